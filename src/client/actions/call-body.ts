import type { InvalidInput } from '../../shared/action-result.ts'
import { ARGUMENTS_FIELD, type ActionArguments } from '../../shared/protocol/action-call.ts'

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
  if (!(input instanceof FormData)) {
    const call: ActionArguments = { args: leading, input }
    return { body: JSON.stringify(call), type: 'application/json' }
  }
  const body = new FormData()
  if (leading.length > 0) body.append(ARGUMENTS_FIELD, JSON.stringify(leading))
  for (const [name, value] of input) {
    // What a document of the server's had for the way without script is said anew for each call.
    if (!name.startsWith('$ACTION_')) body.append(name, value)
  }
  return { body }
}

/** What a form is told whose input was refused: what is wrong, as the server says, and what was typed, as the form does. */
export function invalidInput(input: unknown, errors: InvalidInput['errors']): InvalidInput {
  const values = Object.create(null) as Record<string, string | readonly string[]>
  const omitted: string[] = []
  if (input instanceof FormData) {
    for (const name of new Set(input.keys())) {
      const given = input.getAll(name)
      const texts = given.filter((value) => typeof value === 'string')
      if (texts.length === given.length) values[name] = texts.length === 1 ? (texts[0] ?? '') : texts
      // Where none was chosen, there is a file without a name.
      else if (given.some((value) => typeof value !== 'string' && (value.name || value.size))) omitted.push(name)
    }
  }
  return { kind: 'invalid', errors, values, omitted }
}
