import type { FailedAction, InvalidInput } from '../../../shared/action-result.ts'
import { ACTION_RESULT_ID, type ActionAnswer } from '../../../shared/protocol/action-call.ts'
import type { RouteDataRedirect } from '../../../shared/protocol/route-data.ts'
import { isRuntimePath } from '../../../shared/runtime-paths.ts'
import { judgeTarget } from '../../http/request-target.ts'
import type { RequestContext } from '../../request/context.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import { refuseCall } from '../../request/answer/refuse-call.ts'
import { RenewedSession } from '../../secrets/renewed-session.ts'
import type { ActionParts } from '../actions/receive-call.ts'
import { performCall } from '../actions/serve-action.ts'
import type { Decision, MatchedRoute } from '../decide/decision.ts'
import type { UrlDecider } from '../decide/url-decider.ts'
import { redirectTo } from '../decide/stopped.ts'
import { DataAnswer, type Head } from './data-answer.ts'
import { sendStopped } from './deliver-segments.ts'
import { dataPageOf, headOf, sendPageData, type DataParts } from './serve-data.ts'

/** Parts for answering calls of the client router. */
export interface CallParts extends DataParts {
  readonly actions: ActionParts
  readonly decider: UrlDecider
  /** Whether the application has middleware of its own. */
  readonly hasMiddleware: boolean
  /** Whether it is middleware of a host. */
  readonly isEmbedded: boolean
}

/** Answers a call of the client router: the result first, then fresh data of the segments on screen. */
export async function serveCall(parts: CallParts, decision: Decision, context: RequestContext): Promise<void> {
  const page = dataPageOf(parts, decision, context)
  if (page === undefined) return
  // It takes its place once its body is read.
  const called = await performCall(parts.actions, page, context)
  if (called.kind === 'answered') return
  if (called.kind === 'refused') return refuseCall(context, called.status, called.reason)
  const { shown, revalidate } =
    called.kind === 'stopped' ? { shown: called, revalidate: [] as readonly string[] } : called
  // A cookie drops everything in browsers alone.
  const droppedAt = revalidate.includes('/*') ? undefined : context.services.drops?.last
  const shared: ActionAnswer =
    revalidate.length > 0 ? { revalidate, ...(droppedAt !== undefined && { droppedAt }) } : {}
  switch (shown.kind) {
    case 'redirect':
      return sendRedirected(redirectTo(shown.location), shared, parts, context)
    case 'stopped': {
      // Effects of the action before it threw remain.
      const tell = (answer: DataAnswer): void => putResult(answer, { ...shared, thrown: true })
      const isTold = shared.revalidate !== undefined || (called.kind !== 'stopped' && hasFailed(shown.stopped.thrown))
      const answer = new DataAnswer(context, undefined, isTold ? tell : undefined)
      sendStopped(shown.stopped, { head: headOf(parts, page, context), chain: page.route.chain }, answer, context)
      return answer.finish()
    }
    case 'value': {
      const result = shown.value === undefined ? shared : { ...shared, value: shown.value }
      // A document loads by itself: flash messages and the like that loaders consume would be lost.
      if (context.data?.isOtherBuild === true || hasLeft(context))
        return sendResult(200, headOf(parts, page, context), result, context)
      return sendPageData(parts, page, context, (answer, head) => {
        answer.open(200, head)
        putResult(answer, result)
      })
    }
    case 'state': {
      // The browser has what was typed. The page stays, and its data: after a failure, loaders may fail too.
      const result = { ...shared, ...errorsOf(shown.state), ...secretOf(shown.secret) }
      return sendResult(shown.status, headOf(parts, page, context), result, context)
    }
  }
}

/**
 * Whether the router would send the call again after it, unless the answer says that it has run. One that has asked whose the
 * session is while that gets a new id is sent again: it has stopped there.
 */
function hasFailed(thrown: unknown): boolean {
  const judged = judgeThrown(thrown)
  if (judged.kind !== 'failure' || judged.status !== 503) return false
  return !(judged.thrown instanceof RenewedSession && judged.thrown.isAtRead)
}

function hasLeft({ audience }: RequestContext): boolean {
  return audience.sessions?.hasLeft === true
}

function errorsOf(state: InvalidInput | FailedAction): Pick<ActionAnswer, 'errors' | 'failed'> {
  if (state.kind === 'invalid') return { errors: state.errors }
  return { errors: {}, failed: { kind: state.kind, digest: state.digest } }
}

function secretOf(secret: readonly string[] = []): Pick<ActionAnswer, 'secret'> {
  return secret.length > 0 ? { secret } : {}
}

/** @param result left out if the page need not know it. */
function sendResult(
  status: number,
  head: Head,
  result: ActionAnswer | undefined,
  context: RequestContext,
): Promise<void> {
  const answer = new DataAnswer(context)
  answer.open(status, head)
  if (result !== undefined) putResult(answer, result)
  return answer.finish()
}

/** The target of a call's redirect, and the data of that page. */
function sendRedirected(
  redirect: RouteDataRedirect,
  result: ActionAnswer,
  parts: CallParts,
  context: RequestContext,
): Promise<void> {
  const target =
    redirect.external === true || context.data?.isOtherBuild === true || hasLeft(context)
      ? undefined
      : findTarget(parts, redirect.to, context)
  if (target !== undefined) {
    return sendPageData(parts, target, context, (answer, head) => {
      answer.open(200, { ...head, redirect })
      putResult(answer, result)
    })
  }
  // The document that follows loads everything itself; other tabs do not.
  return sendResult(200, { redirect }, result.revalidate === undefined ? undefined : result, context)
}

/**
 * Makes another page of this site the requested one.
 * @returns `undefined` if no page of the table answers that URL, or if the browser has to ask for it itself.
 */
function findTarget(parts: CallParts, location: string, context: RequestContext): MatchedRoute | undefined {
  const { pathname, search } = new URL(location, 'http://localhost')
  // The URL of each request is judged before any code sees it.
  const judged = judgeTarget(pathname + search)
  if (judged.kind !== 'ok' || judged.dotSegments || isRuntimePath(judged.pathname)) return undefined
  // Middleware has let this request's own URL pass: it may refuse another one, or set other locals for it.
  const isSeen = judged.pathname === context.pathname && judged.search === context.search
  if (!isSeen && (parts.hasMiddleware || parts.isEmbedded)) return undefined
  context.leadTo(judged.pathname, judged.search)
  const decision = parts.decider.decide(context)
  return decision.kind === 'page' ? decision : undefined
}

function putResult(answer: DataAnswer, result: ActionAnswer): void {
  answer.segment(ACTION_RESULT_ID, { data: result }, { lifetime: 0 })
}
