import type { ErrorRequestHandler } from 'express'
import { REFUSAL_STATUS } from '../../shared/control-flow.ts'
import { redirectTo, sendDocumentHead, sendHead } from './data/data-answer.ts'
import { reportFailure } from '../request/answer/failure.ts'
import { judgeThrown, retryHeaders } from '../request/answer/judge-thrown.ts'
import { sendConstantPage, sendPageRedirect } from '../request/answer/send-plain.ts'
import { contextOf } from '../request/attached-context.ts'
import type { RequestContext } from '../request/context.ts'
import type { HeaderList } from '../http/header-list.ts'

/**
 * Answers for a middleware of the application that threw. Like loaders it may throw `redirect()` and `notFound()`.
 * Errors of parsers carry a 4xx status; they are the client's fault, and their stacks are not logged.
 */
export const answerFailures: ErrorRequestHandler = (thrown: unknown, req, res, _next) => {
  const context = contextOf(req)
  if (res.headersSent) return void res.destroy()
  const judged = judgeThrown(thrown)
  if (judged.kind === 'redirect') {
    if (context.data === undefined) sendPageRedirect(context, judged)
    else sendHead(context, 200, { redirect: redirectTo(judged.location) })
    return
  }
  if (judged.kind === 'refusal') return send(context, REFUSAL_STATUS[judged.refusal])
  const status = clientFault(judged.thrown)
  if (status !== undefined) {
    context.refusal = 'malformed request'
    return send(context, status)
  }
  const digest = reportFailure(judged.thrown, context, 'server')
  send(context, judged.status, retryHeaders(judged), digest)
}

function send(context: RequestContext, status: number, headers: HeaderList = [], digest?: string): void {
  if (context.data !== undefined) return sendDocumentHead(context, status, headers)
  sendConstantPage(context, digest === undefined ? { status } : { status, digest }, headers)
}

function clientFault(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined
  const { status } = error
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined
}
