import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import type { RequestContext } from '../../request/context.ts'

/**
 * The same result, unless the request is aborted first: application code that ignores its signal must not hold the
 * answer back forever. It counts as the request's work until it settles. Never an unhandled rejection.
 */
export function untilAborted<Value>(result: Promise<Value>, context: RequestContext): Promise<Value> {
  const { work } = context
  work.begin()
  const bounded = new Promise<Value>((resolve, reject) => {
    context.onAbort(reject)
    result.then(
      (value) => {
        work.end()
        resolve(value)
      },
      (thrown: unknown) => {
        work.end()
        reject(normalizeThrown(thrown))
      },
    )
  })
  // An inner loader may fail while an outer one is still awaited; its error is read later, or never.
  bounded.catch(() => undefined)
  return bounded
}
