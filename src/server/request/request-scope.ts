/**
 * Finds the request whose code has rejected a promise that nothing handles: a loader starts two reads, awaits the first, and
 * the second fails meanwhile. Visitors can cause that at will, so it is a failure of their request and does not end the
 * process, as one of unknown origin does.
 *
 * Connections and timers that outlive a request keep its scope: `fail` of a finished one must not hold its answer.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

const scopes = new AsyncLocalStorage<RequestScope>()

/** Code that runs for one request, with everything that it starts. */
export class RequestScope {
  /** Logs and reports what was thrown. */
  fail: (thrown: unknown) => void

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
