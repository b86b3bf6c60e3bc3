import { UnavailableError } from '../http/unavailable-error.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * The 503 of an answer that cannot do without a store.
 * @param of what the store keeps: `sessions`, `limits`.
 */
export function storeFault(of: string, cause: unknown): UnavailableError {
  const reason = cause instanceof Error ? cause.message : 'unknown'
  const error = new UnavailableError(`The store of ${of} cannot be used: ${reason}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })
  error.cause = cause
  return error
}
