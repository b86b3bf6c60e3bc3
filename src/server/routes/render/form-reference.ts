import {
  ACTION_PARAM,
  ARGUMENTS_FIELD,
  ID_FIELD,
  KEY_FIELD,
  IDEMPOTENCY_FIELD,
  REFERENCE_FIELD,
} from '../../../shared/protocol/action-call.ts'
import { withBasePath } from '../../../shared/base-path.ts'
import type { NamedAction } from '../../request/named-action.ts'
import { hasTypedInput } from '../../../shared/action-result.ts'
import { currentForms } from './form-target.ts'
import { listOf } from './bound-arguments.ts'

/**
 * The only file that depends on how React's server renderer writes forms whose action is a function (React 19.3,
 * without server components): `$$FORM_ACTION` returns the form's attributes and hidden fields, `$$IS_SIGNATURE_EQUAL`
 * tells `useActionState` whether a posted state is its own, and `bind` preserves both.
 * `tests/unit/actions/form-reference` fails when React changes that.
 */
interface FormReference {
  (...args: readonly unknown[]): Promise<never>
  $$FORM_ACTION(prefix: string): FormAttributes
  $$IS_SIGNATURE_EQUAL(id: string, arity: number): boolean
  bind(self: unknown, ...bound: readonly unknown[]): FormReference
}

/** Attributes that React writes on the form, or on the button. */
interface FormAttributes {
  /** Of a hidden field that React always writes. */
  readonly name: string
  /** The page's own URL with the action's id. */
  readonly action: string
  readonly method: 'POST'
  readonly encType: 'multipart/form-data'
  readonly target: undefined
  /** Hidden fields; React appends `$ACTION_KEY`. */
  readonly data: HiddenFields
}

/** The part of `FormData` that React uses. */
interface HiddenFields {
  append(name: string, value: string): void
  forEach(callback: (this: unknown, value: string, name: string) => void, self?: unknown): void
}

/** Creates the value that a page renders: an action with its bound arguments so far. */
export function createFormReference(declared: NamedAction, bound: readonly unknown[]): FormReference {
  const reference = (): Promise<never> =>
    Promise.reject(
      new Error('An action runs when a form is sent or the browser calls it: do not call it on the server'),
    )
  return Object.assign(reference, {
    $$FORM_ACTION: (prefix: string) => formAttributes(declared, bound, prefix),
    $$IS_SIGNATURE_EQUAL: (id: string, arity: number) => id === declared.id && arity === bound.length,
    bind: (_self: unknown, ...more: readonly unknown[]) => createFormReference(declared, [...bound, ...more]),
  })
}

function formAttributes(declared: NamedAction, bound: readonly unknown[], prefix: string): FormAttributes {
  const forms = currentForms()
  forms?.adopt?.(declared)
  const { id } = declared
  if (id === undefined) {
    throw new Error(
      'This action has no id: it is not a named export of an actions.server.ts, or a test has not passed that module to createApp({ actions }); createTestApp of millrace/testing needs no list',
    )
  }
  if (forms === undefined)
    throw new Error('A form with an action can only be rendered by the server of the application')
  const number = prefix.replace(/\D+/g, '')
  const data = new FormFields((key) => forms.stateForms.push({ id, args: bound.slice(0, -1), key }))
  data.append(ID_FIELD, id)
  if (forms.callKey !== undefined) data.append(IDEMPOTENCY_FIELD, forms.callKey)
  if (bound.length > 0) {
    data.append(ARGUMENTS_FIELD + number, forms.sign(id, listOf(withoutRefusal(bound))))
  }
  const { pathname, search } = forms
  return {
    name: REFERENCE_FIELD,
    action: `${withBasePath(pathname)}${search}${search === '' ? '?' : '&'}${ACTION_PARAM}=${id}.${number}`,
    method: 'POST',
    encType: 'multipart/form-data',
    target: undefined,
    data,
  }
}

/** Such a state is never read as the previous one, and contains everything that was typed: send `null` instead. */
function withoutRefusal(bound: readonly unknown[]): readonly unknown[] {
  return hasTypedInput(bound.at(-1)) ? [...bound.slice(0, -1), null] : bound
}

/**
 * The part of `FormData` that React uses. Node's own would load its HTTP client into the memory of each server that has
 * an action. Also detects whether the form belongs to a `useActionState`.
 */
class FormFields implements HiddenFields {
  readonly #fields: [name: string, value: string][] = []
  readonly #onKey: (key: string) => void

  constructor(onKey: (key: string) => void) {
    this.#onKey = onKey
  }

  append(name: string, value: string): void {
    if (name === KEY_FIELD) this.#onKey(value)
    this.#fields.push([name, value])
  }

  forEach(callback: (this: unknown, value: string, name: string) => void, self?: unknown): void {
    for (const [name, value] of this.#fields) callback.call(self, value, name)
  }
}
