import { sendLocation, sendPageRedirect } from '../render/send-plain.ts'
import type { RequestContext } from '../request/context.ts'
import type { CallResult } from './serve-action.ts'
import { digestOfCall, performCall, redirectOf, type ActionParts, type CalledPage } from './serve-action.ts'
import type { StateForm } from './form-target.ts'
import { refuseCall } from './refuse-call.ts'
import { isForeignCall } from './take-action.ts'

/** What the page is shown with after a form was sent to it. */
export type AfterForm =
  /** What React's `useActionState` takes over. */
  | { readonly kind: 'state'; readonly status: 200 | 422; readonly state: PostedState }
  /** Shown in the page's place. */
  | { readonly kind: 'thrown'; readonly thrown: unknown; readonly boundaryFrom: number }

/**
 * `formState` of React's renderers: the state, whose it is, the action's id, and how many arguments are bound. The key is
 * empty where a form came without React's field for it.
 */
export type PostedState = readonly [state: unknown, key: string, id: string, arity: number]

/**
 * Finds whose a state is that came without a key, by what a page has rendered.
 * @returns `undefined` for a state that has its key, and where the page has not exactly one form that it can belong to.
 */
export function withKey([state, key, id, arity]: PostedState, forms: readonly StateForm[]): PostedState | undefined {
  if (key !== '') return undefined
  const [form, ...others] = forms.filter((one) => one.id === id && one.arity === arity)
  return form === undefined || others.length > 0 ? undefined : [state, form.key, id, arity]
}

/**
 * Answers a form that was sent without script.
 * @param showPage renders the page, or what stands in its place.
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
    const redirect = redirectOf(call)
    if (redirect !== undefined) {
      const refused = sendPageRedirect(context, redirect)
      return refused === undefined ? undefined : showPage({ kind: 'thrown', thrown: refused, boundaryFrom })
    }
    digestOfCall(call, context)
    return showPage({ kind: 'thrown', thrown: outcome.thrown, boundaryFrom })
  }
  const { key, leading } = received
  const arity = leading.length - Number(key !== undefined)
  if (outcome.kind === 'invalid') {
    const state: PostedState = [outcome.state, key ?? '', id, arity]
    return showPage({ kind: 'state', status: 422, state })
  }
  if (outcome.value === undefined || key === undefined) {
    // The page anew, by its own URL: reloading it sends nothing again.
    sendLocation(context, 303, context.pathname + context.search)
    return undefined
  }
  return showPage({ kind: 'state', status: 200, state: [outcome.value, key, id, arity] })
}
