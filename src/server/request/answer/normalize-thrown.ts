import { types } from 'node:util'
import { isControlFlow } from '../../../shared/control-flow.ts'

/** What stands for an object that was thrown; it goes with that. */
const replacements = new WeakMap<object, Error>()

/**
 * What was thrown, if the runtime and React can look at it. Else an error in its place: a proxy or getter that throws when
 * it is asked would take the document, or the process, with it from within the code that is to tell of the failure; and
 * what can be awaited React takes for something that is still on its way.
 * @returns the same error for the same object.
 */
export function normalizeThrown(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown
  const fault = faultOf(thrown)
  if (fault === undefined) return thrown
  const known = replacements.get(thrown)
  if (known !== undefined) return known
  const error = new Error(fault)
  replacements.set(thrown, error)
  return error
}

/** Asks for all that a failure is asked for on its way to the log, the page and the report. */
function faultOf(thrown: object): string | undefined {
  try {
    // Our own, of which nobody tells: to write its stack down is a third of what a redirect costs.
    if (isControlFlow(thrown)) return undefined
    // `in` and `instanceof` have traps of their own, and not every value has a text.
    const isError = thrown instanceof Error
    for (const name of ['digest', 'name', 'message', 'stack', 'cause'] as const) {
      const member: unknown = name in thrown ? (thrown as Record<typeof name, unknown>)[name] : undefined
      if (isError && name !== 'cause') String(member)
      if (!types.isPromise(member)) continue
      // A getter would make another one for each look, and a rejection that nobody hears of ends the process.
      member.catch(() => undefined)
      return 'something was thrown that holds a promise'
    }
    if (typeof thrown === 'function') String(thrown)
    return 'then' in thrown && typeof thrown.then === 'function'
      ? 'something was thrown that can be awaited'
      : undefined
  } catch {
    return 'something was thrown that cannot be described'
  }
}
