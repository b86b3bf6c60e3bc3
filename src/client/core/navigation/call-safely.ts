import type { RouterListeners } from '../../react/router-types.ts'

/**
 * Calls a function of the application during the router's own work. Its errors are reported as uncaught, and stop
 * nothing.
 * @returns `undefined` if it has thrown.
 */
export function callSafely<Result>(call: () => Result): Result | undefined {
  try {
    return call()
  } catch (thrown) {
    reportError(thrown)
    return undefined
  }
}

/**
 * Whether a blocker objects to leaving the page.
 * @param href the target; `undefined` for another site. A blocker that throws does not object: its error must not trap
 * visitors.
 */
export function isBlocked(blockers: RouterListeners['blockers'], href: string | undefined): boolean {
  return [...blockers].some((asks) => callSafely(() => asks({ href })))
}
