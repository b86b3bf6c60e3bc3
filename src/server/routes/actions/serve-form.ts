import { reportFailure } from '../../request/answer/failure.ts'
import { refuseCall } from '../../request/answer/refuse-call.ts'
import { sendLocation, sendPageRedirect } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import type { AfterForm } from '../render/form-state.ts'
import { showPage, type PageParts } from '../render/serve-page.ts'
import type { ActionParts } from './receive-call.ts'
import { performCall, type FinishedResult } from './serve-action.ts'

/** Answers a form that was sent without script: by a redirect, or by the page or its replacement. */
export async function serveForm(
  parts: PageParts & { readonly actions: ActionParts },
  page: MatchedRoute,
  context: RequestContext,
): Promise<void> {
  const result = await performCall(parts.actions, page, context)
  if (result.kind === 'answered') return
  if (result.kind === 'refused') return refuseCall(context, result.status, result.reason)
  const after = result.kind === 'stopped' ? result : afterForm(result, context)
  return after === undefined ? undefined : showPage(parts, page, context, after)
}

/** @returns `undefined` if the request has been answered: by a redirect. */
function afterForm(
  { shown, received: { key, leading }, id }: FinishedResult,
  context: RequestContext,
): AfterForm | undefined {
  if (shown.kind === 'redirect') return void sendPageRedirect(context, shown)
  if (shown.kind === 'stopped') {
    reportFailure(shown.stopped.thrown, context, 'action')
    return shown
  }
  // Redirect to the page's own URL: a reload sends nothing again.
  if (shown.kind === 'value' && (shown.value === undefined || key === undefined)) {
    return void sendLocation(context, 303, context.pathname + context.search)
  }
  const args = key === undefined ? leading : leading.slice(0, -1)
  const { status, state } = shown.kind === 'value' ? { status: 200 as const, state: shown.value } : shown
  return { posted: { status, state: [state, key ?? '', id, args.length], args } }
}
