import type { ErrorRequestHandler } from 'express'
import { REFUSAL_STATUS } from '../../shared/control-flow.ts'
import { sendDocumentHead, sendHead } from './data/data-answer.ts'
import { redirectTo } from './decide/stopped.ts'
import { reportFailure } from '../request/answer/failure.ts'
import { judgeThrown, retryHeaders } from '../request/answer/judge-thrown.ts'
import { sendConstantPage, sendPageRedirect } from '../request/answer/send-plain.ts'
import { contextOf } from '../request/attached-context.ts'
import type { RequestContext } from '../request/context.ts'
import type { HeaderList } from '../http/header-list.ts'

/**
 * Answers for a middleware of the application that threw. Like loaders it may throw `redirect()` and `notFound()`.
 * Errors of parsers declare that they are the client's fault; their stacks are not logged.
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
    context.record.refused = 'malformed request'
    return send(context, status)
  }
  const digest = reportFailure(judged.thrown, context, 'server')
  send(context, judged.status, retryHeaders(judged), digest)
}

function send(context: RequestContext, status: number, headers: HeaderList = [], digest?: string): void {
  if (context.data !== undefined) return sendDocumentHead(context, status, headers)
  sendConstantPage(context, digest === undefined ? { status } : { status, digest }, headers)
}

/**
 * The 4xx status of an error that was made for an answer of this server: by http-errors, as in body parsers and
 * Express's file server, which always declares whether the message may be shown (`expose`), or by Express for a param
 * that cannot be decoded. A status alone proves nothing: errors of HTTP clients have the status of another service's
 * answer.
 */
function clientFault(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined
  const { status } = error
  const isForAnswer =
    ('expose' in error && typeof error.expose === 'boolean') || (error instanceof URIError && status === 400)
  return isForAnswer && isClientStatus(status) ? status : undefined
}

function isClientStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 500
}
