import { isControlFlow } from '../../../shared/control-flow.ts'
import { RequestAborted } from '../../request/request-aborted.ts'

/**
 * Whether a value thrown on this server is a failure to report. Decided by its class, never by its text: names,
 * messages and digests may be those of another service's errors. Only after the client has disconnected do abort errors
 * count as a consequence by their name, because Node creates new errors for the abort.
 * @param isGone whether the client of its request has disconnected.
 */
export function isServerFailure(thrown: unknown, isGone: boolean): boolean {
  if (isControlFlow(thrown)) return false
  if (thrown instanceof RequestAborted) return thrown.cause === 'timeout'
  return !(isGone && isAbort(thrown))
}

/** `AbortError` after a signal, or Node's error for an interrupted request or answer. */
function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.message === 'aborted')
}
