import { listOf } from './bound-arguments.ts'
import type { StateForm } from './form-target.ts'

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
