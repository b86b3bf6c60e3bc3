import { isInvalidInput, type InvalidInput } from '../../shared/action-result.ts'
import { isPasswordName } from '../../shared/password-name.ts'
import {
  ARGUMENTS_FIELD,
  FIELD_PREFIX,
  type ActionAnswer,
  type ActionArguments,
} from '../../shared/protocol/action-call.ts'

/** A call as it travels. */
export interface CallBody {
  readonly body: FormData | string
  /** Set where the body is no form: the browser knows that one by itself. */
  readonly type?: string
}

/**
 * Puts the arguments of a call into a request: the last one is the input, in front of it stand bound arguments and the
 * state of `useActionState`.
 */
export function callBody(args: readonly unknown[]): CallBody {
  const input = args.at(-1)
  const leading = args.slice(0, -1)
  // A state that says why the input was refused holds all that was typed, and no handler reads it.
  if (isInvalidInput(leading.at(-1))) leading.splice(-1, 1, null)
  if (!(input instanceof FormData)) {
    const call: ActionArguments = { args: leading, input }
    return { body: JSON.stringify(call), type: 'application/json' }
  }
  const body = new FormData()
  if (leading.length > 0) body.append(ARGUMENTS_FIELD, JSON.stringify(leading))
  for (const [name, value] of input) {
    // What a document of the server's had for the way without script is said anew for each call.
    if (!name.startsWith(FIELD_PREFIX)) body.append(name, value)
  }
  return { body }
}

/** Fields that hold what a page must not show, whatever their action says of them. */
const SECRET_FIELDS = '[type=password],[autocomplete*=password],[autocomplete*=one-time-code],[autocomplete*=cc-]'

/**
 * What a form is told whose input was refused: what is wrong, as the server says, and what was typed, as the form does. The
 * state goes into the document, so that passwords, what the action calls secret, and fields of the runtime are not in it.
 * @param document where the form is: a field may be a password by its type.
 */
export function invalidInput(
  input: unknown,
  { errors = {}, secret = [] }: Pick<ActionAnswer, 'errors' | 'secret'>,
  document?: Document,
): InvalidInput {
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
        // Where none was chosen, there is a file without a name.
        if (given.some((value) => typeof value !== 'string' && (value.name || value.size))) omitted.push(name)
      } else if (!isSecret) values[name] = texts.length === 1 ? (texts[0] ?? '') : texts
    }
  }
  return { kind: 'invalid', errors, values, omitted }
}
