import { ACTION_RESULT_ID, type ActionAnswer } from '../../../shared/protocol/action-call.ts'
import type { RouteDataRedirect } from '../../../shared/protocol/route-data.ts'
import { safeLocation } from '../../../shared/safe-location.ts'
import { createDataAnswer, NO_PROGRESS, redirectTo, type DataAnswer, type Head } from './data-answer.ts'
import { sendVerdict } from './deliver-segments.ts'
import { UnsafeRedirectError } from '../../request/answer/unsafe-redirect.ts'
import type { RequestContext } from '../../request/context.ts'
import { performCall, redirectOf, type ActionParts, type CallResult, type CalledPage } from '../actions/serve-action.ts'

/** How pages are delivered behind the result of a call. */
export interface CallDelivery {
  /** Sends head and segments of the page, `opening` first. */
  page(page: CalledPage, opening: (answer: DataAnswer, head: Head) => void): Promise<void>
  /**
   * Makes another page of this site the one that is asked for.
   * @returns `undefined` where no page of the table answers that URL.
   */
  moveTo(location: string): CalledPage | undefined
}

/** Answers a call of the client router: the result first, then fresh data of the segments on screen. */
export async function serveCall(
  parts: ActionParts,
  page: CalledPage,
  head: Head,
  delivery: CallDelivery,
  context: RequestContext,
): Promise<void> {
  const result = await performCall(parts, page, context)
  if (result.kind === 'answered') return
  if (result.kind === 'guarded') return sendThrown(result, page, head, context)
  const { outcome, revalidate } = result.call
  const shared: ActionAnswer = revalidate.length === 0 ? {} : { revalidate }
  if (outcome.kind === 'invalid') {
    const answer = createDataAnswer(context, NO_PROGRESS)
    answer.open(422, head)
    const { state, secret = [] } = outcome
    putResult(answer, { ...shared, errors: state.errors, ...(secret.length > 0 && { secret }) })
    return answer.finish()
  }
  if (outcome.kind === 'value') {
    return delivery.page(page, (answer, pageHead) => {
      answer.open(200, pageHead)
      putResult(answer, outcome.value === undefined ? shared : { ...shared, value: outcome.value })
    })
  }
  const redirect = redirectOf(result.call)
  if (redirect === undefined) {
    return sendThrown(
      { thrown: outcome.thrown, boundaryFrom: page.route.chain.length - 1 },
      page,
      head,
      context,
      shared,
    )
  }
  const location = safeLocation(redirect.to, redirect)
  if (location === undefined) {
    const thrown = new UnsafeRedirectError(redirect)
    return sendThrown({ thrown, boundaryFrom: page.route.chain.length - 1 }, page, head, context, shared)
  }
  return sendRedirected(redirectTo(location), shared, delivery, context)
}

/** Where a call leads, and the data of that page. */
async function sendRedirected(
  redirect: RouteDataRedirect,
  answered: ActionAnswer,
  delivery: CallDelivery,
  context: RequestContext,
): Promise<void> {
  const target = redirect.external === true ? undefined : delivery.moveTo(redirect.to)
  if (target === undefined) {
    const answer = createDataAnswer(context, NO_PROGRESS)
    // The document that follows asks for everything by itself; other tabs do not.
    answer.open(200, { redirect })
    if (answered.revalidate !== undefined) putResult(answer, answered)
    return answer.finish()
  }
  return delivery.page(target, (answer, head) => {
    answer.open(200, { ...head, redirect })
    putResult(answer, answered)
  })
}

function sendThrown(
  { thrown, boundaryFrom }: Pick<Extract<CallResult, { kind: 'guarded' }>, 'thrown' | 'boundaryFrom'>,
  { route }: CalledPage,
  head: Head,
  context: RequestContext,
  shared: ActionAnswer = {},
): Promise<void> {
  const answer = createDataAnswer(context, NO_PROGRESS)
  const verdict: DataAnswer = {
    ...answer,
    open(...opening) {
      answer.open(...opening)
      // What it has done before it gave up is done.
      if (shared.revalidate !== undefined) putResult(answer, { ...shared, thrown: true })
    },
  }
  sendVerdict(thrown, boundaryFrom, route.chain, head, verdict, context, 'action')
  return answer.finish()
}

function putResult(answer: DataAnswer, result: ActionAnswer): void {
  answer.segment(ACTION_RESULT_ID, { data: result }, { lifetime: 0 })
}
