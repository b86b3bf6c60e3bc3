import { listOf } from './bound-arguments.ts'
import type { Stopped } from '../decide/stopped.ts'
import type { StateForm } from './form-target.ts'

/** How the page is shown after a form was posted to it. */
export interface AfterForm {
  readonly posted?: PostedForm
  /** Why the page is not shown. */
  readonly stopped?: Stopped
}

/** The state for React's `useActionState`, and the arguments that are bound in the posted form. */
export interface PostedForm {
  readonly status: 200 | 413 | 422 | 500 | 503
  readonly state: PostedState
  readonly args: readonly unknown[]
}

/**
 * `formState` of React's renderers: the state, its key, the action's id, and the number of bound arguments. The key is
 * empty if the form had no field for it.
 */
export type PostedState = readonly [state: unknown, key: string, id: string, arity: number]

/** Whether one of the rendered forms is the posted one. */
export function hasForm([, key]: PostedState, forms: readonly StateForm[]): boolean {
  return forms.some((form) => form.key === key)
}

/**
 * Finds the form of a state that has no key, or one that the page does not have: React derives keys from names and
 * positions of components, and another build may have others.
 * @returns `undefined` for a state that has its form, and unless exactly one form of the page fits.
 */
export function withKey(
  { state: posted, args }: Pick<PostedForm, 'state' | 'args'>,
  forms: readonly StateForm[],
): PostedState | undefined {
  if (hasForm(posted, forms)) return undefined
  const [state, , id, arity] = posted
  const bound = listOf(args)
  const [form, ...others] = forms.filter((one) => one.id === id && listOf(one.args) === bound)
  return form === undefined || others.length > 0 ? undefined : [state, form.key, id, arity]
}
