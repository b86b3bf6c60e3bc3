import type { ErrorRequestHandler } from 'express'
import { sendDocumentHead } from './data/data-answer.ts'
import { failureStatus, reportFailure, retryHeaders } from '../request/answer/failure.ts'
import { soundThrown } from '../request/answer/sound-thrown.ts'
import { sendConstantPage } from '../request/answer/send-plain.ts'
import { contextOf } from '../request/attached-context.ts'
/**
 * What no other part has answered for: a middleware of the application that threw. Errors of parsers carry a 4xx
 * status; they are the client's, and are answered without a stack anywhere.
 */
export const answerFailures: ErrorRequestHandler = (thrown: unknown, req, res, _next) => {
  const error = soundThrown(thrown)
  const context = contextOf(req)
  const status = clientFault(error)
  if (res.headersSent) return void res.destroy()
  if (status !== undefined) {
    context.refusal = 'malformed request'
    return context.data === undefined ? sendConstantPage(context, { status }) : sendDocumentHead(context, status)
  }
  const digest = reportFailure(error, context, 'server')
  const { status: failed, retryAfter } = failureStatus(error)
  const retry = retryHeaders(retryAfter)
  if (context.data === undefined) sendConstantPage(context, { status: failed, digest }, retry)
  else sendDocumentHead(context, failed, retry)
}

function clientFault(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined
  const { status } = error
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined
}
