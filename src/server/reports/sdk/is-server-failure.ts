import { isControlFlow } from '../../../shared/control-flow.ts'
import { RequestAborted } from '../../request/context.ts'

/**
 * Whether something that was thrown on this server is a failure to report. Judged by what it is, and never by what it says:
 * names, messages and digests may be those of another service's errors. Only where the client has gone away does an error
 * count as its end by its name, since Node makes new errors of the abort.
 * @param isGone the client of its request has gone away.
 */
export function isServerFailure(thrown: unknown, isGone: boolean): boolean {
  if (isControlFlow(thrown)) return false
  if (thrown instanceof RequestAborted) return thrown.cause === 'timeout'
  return !(isGone && isAbort(thrown))
}

/** `AbortError` of what was stopped by a signal, or Node's error for a request or answer that has broken off. */
function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.message === 'aborted')
}
