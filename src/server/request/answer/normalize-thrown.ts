import { types } from 'node:util'
import { RedirectSignal, RefusalSignal } from '../../../shared/control-flow.ts'

/** Replacements of thrown objects, collected together with them. */
const replacements = new WeakMap<object, Error>()

/**
 * The thrown value, if the runtime and React can safely read it; otherwise an error in its place. A proxy or getter
 * that throws when read would take down the document, or the process, from within the code that reports the failure;
 * and React treats a thenable as suspension.
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

/** Reads everything that log, page and report read from a failure. */
function faultOf(thrown: object): string | undefined {
  try {
    // Our own signals are never reported, and reading their stack is a third of the cost of a redirect.
    if (thrown instanceof RedirectSignal || thrown instanceof RefusalSignal) return undefined
    // `in` and `instanceof` can trap, and not every value has a string form.
    const isError = thrown instanceof Error
    for (const name of ['digest', 'name', 'message', 'stack', 'cause'] as const) {
      const member: unknown = name in thrown ? (thrown as Record<typeof name, unknown>)[name] : undefined
      if (isError && name !== 'cause') String(member)
      if (!types.isPromise(member)) continue
      // A getter may return a new promise for each read, and an unhandled rejection ends the process.
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
