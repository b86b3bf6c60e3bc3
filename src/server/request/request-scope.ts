/**
 * Finds the request whose code has rejected a promise that nothing handles: a loader starts two reads, awaits the first, and
 * the second fails meanwhile. Visitors can cause that at will, so it is a failure of their request and does not end the
 * process, as one of unknown origin does.
 *
 * Bound: connections and timers that outlive a request keep its scope, but of finished requests only the last 64 keep what
 * they report with.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

const MOST_FINISHED = 64

const scopes = new AsyncLocalStorage<RequestScope>()

/** Code that runs for one request, with everything that it starts. */
export class RequestScope {
  /** Logs and reports what was thrown; `undefined` if the request is long over. */
  fail: ((thrown: unknown) => void) | undefined

  constructor(fail: (thrown: unknown) => void) {
    this.fail = fail
  }

  run<Result>(work: () => Result): Result {
    return scopes.run(this, work)
  }
}

/** The scope of the running code; in a listener for unhandled rejections, that of the code that made the promise. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore()
}

/** @returns notes that the request of a scope is over. */
export function createFinishedScopes(): (scope: RequestScope) => void {
  const last: RequestScope[] = []
  let at = 0
  return (scope) => {
    const former = last[at]
    if (former !== undefined) former.fail = undefined
    last[at] = scope
    at = (at + 1) % MOST_FINISHED
  }
}
