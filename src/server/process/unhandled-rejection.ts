import type { Logger } from 'pino'
import { describeThrown } from '../request/answer/failure.ts'
import { currentScope } from '../request/request-scope.ts'
import { isOfLeftRequest } from './left-request.ts'

/** What to do with the rejection of a promise that nothing handles, of code outside of requests. */
interface RejectionParts {
  readonly log: Pick<Logger, 'error'>
  readonly onFatal: (thrown: unknown) => void
}

/**
 * Listens to `unhandledRejection`. One of a request's code is a failure of that request, logged and reported once; any other
 * leaves the process in an unknown state.
 */
export function createRejectionListener({ log, onFatal }: RejectionParts): (thrown: unknown) => void {
  return (thrown) => {
    if (isOfLeftRequest(thrown)) return
    const scope = currentScope()
    if (scope === undefined) onFatal(thrown)
    else if (scope.fail !== undefined) scope.fail(thrown)
    else log.error({ err: describeThrown(thrown), place: 'unawaited' }, 'uncaught failure')
  }
}
