/**
 * Calls a function of the application in the middle of the router's own work. What it throws is reported as uncaught, and
 * stops nothing.
 * @returns `undefined` where it has thrown.
 */
export function guarded<Result>(call: () => Result): Result | undefined {
  try {
    return call()
  } catch (thrown) {
    reportError(thrown)
    return undefined
  }
}
