import { sendLocation, sendPageRedirect } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { CallResult } from './serve-action.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import { performCall, type ActionParts, type CalledPage } from './serve-action.ts'
import { refuseCall } from '../../request/answer/refuse-call.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import { failedState } from './failed-state.ts'
import type { AfterForm } from '../render/form-state.ts'

/**
 * Answers a form that was sent without script.
 * @param showPage renders the page, or its replacement.
 */
export async function serveForm(
  parts: ActionParts & { readonly origins: readonly string[] },
  page: CalledPage,
  context: RequestContext,
  showPage: (after: AfterForm) => Promise<void>,
): Promise<void> {
  if (isForeignCall(context, parts.origins)) return refuseCall(context, 403)
  const result = await performCall(parts, page, context)
  if (result.kind === 'answered') return
  if (result.kind === 'guarded') return showPage({ ...result, kind: 'thrown' })
  return answerForm(result, page, context, showPage)
}

function answerForm(
  { call, received, id }: Extract<CallResult, { kind: 'finished' }>,
  { route }: CalledPage,
  context: RequestContext,
  showPage: (after: AfterForm) => Promise<void>,
): Promise<void> | undefined {
  const { outcome } = call
  const boundaryFrom = route.chain.length - 1
  if (outcome.kind === 'thrown') {
    const judged = judgeThrown(outcome.thrown)
    if (judged.kind === 'redirect') return void sendPageRedirect(context, judged)
    reportFailure(outcome.thrown, context, 'action')
    return showPage({ kind: 'thrown', thrown: outcome.thrown, boundaryFrom })
  }
  const { key, leading } = received
  const args = key === undefined ? leading : leading.slice(0, -1)
  if (outcome.kind === 'invalid') {
    const { status = 422, state } = outcome
    return showPage({ kind: 'state', status, state: [state, key ?? '', id, args.length], args })
  }
  if (outcome.kind === 'failed') {
    const { state, status } = failedState(outcome, context)
    return showPage({ kind: 'state', status, state: [state, key ?? '', id, args.length], args })
  }
  if (outcome.value === undefined || key === undefined) {
    // Redirect to the page's own URL: a reload sends nothing again.
    sendLocation(context, 303, context.pathname + context.search)
    return undefined
  }
  return showPage({ kind: 'state', status: 200, state: [outcome.value, key, id, args.length], args })
}
