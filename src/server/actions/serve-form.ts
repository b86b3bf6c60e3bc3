import { sendLocation, sendPageRedirect } from '../render/send-plain.ts'
import type { RequestContext } from '../request/context.ts'
import type { CallResult } from './serve-action.ts'
import { digestOfCall, performCall, redirectOf, type ActionParts, type CalledPage } from './serve-action.ts'
import { listOf } from './form-reference.ts'
import type { StateForm } from './form-target.ts'
import { refuseCall } from './refuse-call.ts'
import { isForeignCall } from './take-action.ts'

/** What the page is shown with after a form was sent to it. */
export type AfterForm =
  /** What React's `useActionState` takes over, and the arguments that are bound in the form that was sent. */
  | {
      readonly kind: 'state'
      readonly status: 200 | 422
      readonly state: PostedState
      readonly args: readonly unknown[]
    }
  /** Shown in the page's place. */
  | { readonly kind: 'thrown'; readonly thrown: unknown; readonly boundaryFrom: number }

/**
 * `formState` of React's renderers: the state, whose it is, the action's id, and how many arguments are bound. The key is
 * empty where a form came without React's field for it.
 */
export type PostedState = readonly [state: unknown, key: string, id: string, arity: number]

/** Whether one of the forms that a page has rendered is the one that was sent. */
export function hasForm([, key]: PostedState, forms: readonly StateForm[]): boolean {
  return forms.some((form) => form.key === key)
}

/**
 * Finds whose a state is that came without a key, or with one that the page does not have: React makes them of names and
 * places of components, and another build may have others.
 * @returns `undefined` for a state that has its form, and where the page has not exactly one that it can belong to.
 */
export function withKey(
  { state: posted, args }: Pick<Extract<AfterForm, { kind: 'state' }>, 'state' | 'args'>,
  forms: readonly StateForm[],
): PostedState | undefined {
  if (hasForm(posted, forms)) return undefined
  const [state, , id, arity] = posted
  const bound = listOf(args)
  const [form, ...others] = forms.filter((one) => one.id === id && listOf(one.args) === bound)
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
  const args = key === undefined ? leading : leading.slice(0, -1)
  if (outcome.kind === 'invalid') {
    return showPage({ kind: 'state', status: 422, state: [outcome.state, key ?? '', id, args.length], args })
  }
  if (outcome.value === undefined || key === undefined) {
    // The page anew, by its own URL: reloading it sends nothing again.
    sendLocation(context, 303, context.pathname + context.search)
    return undefined
  }
  return showPage({ kind: 'state', status: 200, state: [outcome.value, key, id, args.length], args })
}
