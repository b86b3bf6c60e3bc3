import { ACTION_RESULT_ID, type ActionAnswer } from '../../../shared/protocol/action-call.ts'
import type { RouteDataRedirect } from '../../../shared/protocol/route-data.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { performCall, type ActionParts } from '../actions/serve-action.ts'
import { failedState } from '../actions/failed-state.ts'
import { createDataAnswer, NO_PROGRESS, redirectTo, type DataAnswer, type Head } from './data-answer.ts'
import { sendStopped, type RunningPage, type Stopped } from './deliver-segments.ts'
import type { MatchedPage } from '../load/matched-page.ts'
import { findDataPage, headOf, sendPageData, type DataParts } from './serve-data.ts'

/** Parts for answering calls of the client router. */
export interface CallParts extends DataParts {
  readonly actions: ActionParts
}

/** Answers a call of the client router: the result first, then fresh data of the segments on screen. */
export async function serveCall(parts: CallParts, context: RequestContext): Promise<void> {
  const page = findDataPage(parts, context)
  if (page === undefined) return
  // It takes its place once its body is read.
  const result = await performCall(parts.actions, page, context)
  if (result.kind === 'answered') return
  if (result.kind === 'guarded')
    return sendThrown({ ...result, place: 'action' }, {}, shownOf(parts, page, context), context)
  const { outcome, revalidate } = result.call
  // A cookie drops everything in browsers alone.
  const droppedAt = revalidate.includes('/*') ? undefined : context.services.drops?.last
  const shared: ActionAnswer =
    revalidate.length === 0 ? {} : { revalidate, ...(droppedAt !== undefined && { droppedAt }) }
  if (outcome.kind === 'invalid') {
    const { state, secret, status = 422 } = outcome
    return sendRefused(
      status,
      { ...shared, errors: state.errors, ...secretOf(secret) },
      headOf(parts, page, context),
      context,
    )
  }
  if (outcome.kind === 'failed') {
    const { state, status } = failedState(outcome, context)
    const failed = { kind: state.kind, digest: state.digest }
    return sendRefused(
      status,
      { ...shared, errors: {}, failed, ...secretOf(outcome.secret) },
      headOf(parts, page, context),
      context,
    )
  }
  if (outcome.kind === 'value') {
    return sendPage(parts, page, context, (answer, head) => {
      answer.open(200, head)
      putResult(answer, outcome.value === undefined ? shared : { ...shared, value: outcome.value })
    })
  }
  const judged = judgeThrown(outcome.thrown)
  if (judged.kind === 'redirect') return sendRedirected(redirectTo(judged.location), shared, parts, context)
  const boundaryFrom = page.route.chain.length - 1
  return sendThrown(
    { thrown: outcome.thrown, boundaryFrom, place: 'action' },
    shared,
    shownOf(parts, page, context),
    context,
  )
}

function secretOf(secret: readonly string[] = []): Pick<ActionAnswer, 'secret'> {
  return secret.length > 0 ? { secret } : {}
}

/** The browser has what was typed. The page stays, and its data: after a failure, loaders may fail too. */
function sendRefused(status: number, result: ActionAnswer, head: Head, context: RequestContext): Promise<void> {
  const answer = createDataAnswer(context, NO_PROGRESS)
  answer.open(status, head)
  putResult(answer, result)
  return answer.finish()
}

/**
 * Skips the loaders for a page of another build: flash messages and the like that they consume would be lost for the
 * document.
 */
function sendPage(
  parts: CallParts,
  page: MatchedPage,
  context: RequestContext,
  opening: NonNullable<RunningPage['opening']>,
): Promise<void> {
  if (context.data?.isOtherBuild !== true) return sendPageData(parts, page, context, opening)
  const answer = createDataAnswer(context, NO_PROGRESS)
  opening(answer, headOf(parts, page, context))
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
    redirect.external === true || context.data?.isOtherBuild === true
      ? undefined
      : findTarget(parts, redirect.to, context)
  if (target !== undefined) {
    return sendPageData(parts, target, context, (answer, head) => {
      answer.open(200, { ...head, redirect })
      putResult(answer, result)
    })
  }
  const answer = createDataAnswer(context, NO_PROGRESS)
  // The document that follows loads everything itself; other tabs do not.
  answer.open(200, { redirect })
  if (result.revalidate !== undefined) putResult(answer, result)
  return answer.finish()
}

/**
 * Makes another page of this site the requested one.
 * @returns `undefined` if no page of the table answers that URL.
 */
function findTarget({ rules }: CallParts, location: string, context: RequestContext): MatchedPage | undefined {
  const { pathname, search } = new URL(location, 'http://localhost')
  context.askForData(pathname, search, { build: context.data?.build ?? '' })
  const asked = rules.subjectOf(context)
  if (rules.redirect(context, asked) !== undefined) return undefined
  const resolution = rules.resolve(asked)
  if (resolution.kind !== 'route' || resolution.match.route.kind === 'handler') return undefined
  return { ...resolution.match, search: resolution.search, isUnmatched: false }
}

function shownOf(parts: CallParts, page: MatchedPage, context: RequestContext): Pick<RunningPage, 'head' | 'chain'> {
  return { head: headOf(parts, page, context), chain: page.route.chain }
}

function sendThrown(
  stopped: Stopped,
  result: ActionAnswer,
  page: Pick<RunningPage, 'head' | 'chain'>,
  context: RequestContext,
): Promise<void> {
  // Effects of the action before it threw remain.
  const hasDone = result.revalidate !== undefined
  const tell = (answer: DataAnswer): void => putResult(answer, { ...result, thrown: true })
  const answer = createDataAnswer(context, NO_PROGRESS, hasDone ? tell : undefined)
  sendStopped(stopped, page, answer, context)
  return answer.finish()
}

function putResult(answer: DataAnswer, result: ActionAnswer): void {
  answer.segment(ACTION_RESULT_ID, { data: result }, { lifetime: 0 })
}
