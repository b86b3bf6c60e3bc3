import type { FailedAction, InvalidInput } from '../../shared/action-result.ts'
import { isPasswordName } from '../../shared/password-name.ts'
import {
  ARGUMENTS_FIELD,
  FIELD_PREFIX,
  IDEMPOTENCY_FIELD,
  type ActionAnswer,
  type ActionArguments,
} from '../../shared/protocol/action-call.ts'

/** A call in its form for the network. */
interface CallBody {
  readonly body: FormData | string
  /** Set if the body is not a form, whose type the browser knows. */
  readonly type?: string
}

/**
 * Encodes the arguments of a call: the last one is the input; before it are bound arguments and the state of
 * `useActionState`.
 */
export function callBody(args: readonly unknown[]): CallBody {
  const input = args.at(-1)
  const leading = args.slice(0, -1)
  // Such a state contains everything that was typed, and no handler reads it.
  const { kind, omitted } = Object(leading.at(-1)) as Partial<InvalidInput | FailedAction>
  if (omitted && (kind === 'invalid' || kind === 'failed')) leading.splice(-1, 1, null)
  if (!(input instanceof FormData)) {
    const call: ActionArguments = { args: leading, input }
    return { body: JSON.stringify(call), type: 'application/json' }
  }
  const body = new FormData()
  if (leading.length > 0) body.append(ARGUMENTS_FIELD, JSON.stringify(leading))
  for (const [name, value] of input) {
    // The runtime's fields in the form are for browsers without script; a call has its own, but for that of a first press.
    if (!name.startsWith(FIELD_PREFIX) || name === IDEMPOTENCY_FIELD) body.append(name, value)
  }
  return { body }
}

/** Fields whose content a page must not show, whatever their action declares. */
const SECRET_FIELDS = '[type=password],[autocomplete*=password],[autocomplete*=one-time-code],[autocomplete*=cc-]'

/**
 * The state for a form whose input was refused, or whose action has failed: the faults from the server, and the typed
 * values from the form. The state is rendered into the document, so it contains no passwords, secret fields of the action,
 * or fields of the runtime.
 * @param document of the form: a field may be a password by its type.
 */
export function invalidInput(
  input: unknown,
  { errors = {}, secret = [], failed }: Pick<ActionAnswer, 'errors' | 'secret' | 'failed'>,
  document?: Document,
): InvalidInput | FailedAction {
  const values = Object.create(null) as Record<string, string | readonly string[]>
  const omitted: string[] = []
  if (input instanceof FormData) {
    const fields = [...(document?.querySelectorAll<HTMLInputElement>(SECRET_FIELDS) ?? [])]
    const kept = new Set([...secret, ...fields.map(({ name }) => name)])
    for (const name of new Set(input.keys())) {
      const given = input.getAll(name)
      const texts = given.filter((value) => typeof value === 'string')
      const isSecret = name.startsWith(FIELD_PREFIX) || kept.has(name) || isPasswordName(name)
      if (texts.length !== given.length) {
        // If no file was chosen, there is a file without a name.
        if (given.some((value) => typeof value !== 'string' && (value.name || value.size))) omitted.push(name)
      } else if (!isSecret) values[name] = texts.length === 1 ? (texts[0] ?? '') : texts
    }
  }
  return { kind: 'invalid', errors, values, omitted, ...failed } as InvalidInput | FailedAction
}
