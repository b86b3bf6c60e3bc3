/** Options of `UnavailableError`. */
export interface UnavailableOptions {
  /** Seconds after which it is worth trying again: the `Retry-After` of the answer. */
  readonly retryAfter?: number
}

/**
 * Thrown by a loader when something it needs cannot be had at present. Before the first byte it gives the status 503
 * and the `error` fallback; clients that know how to try again do so.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  /** Whole seconds, if stated. */
  readonly retryAfter: number | undefined

  /**
   * @param message for the log; no visitor sees it.
   * @throws {RangeError} for a negative or non-finite `retryAfter`.
   */
  constructor(message = 'Unavailable at present', { retryAfter }: UnavailableOptions = {}) {
    super(message)
    if (retryAfter !== undefined && !(Number.isFinite(retryAfter) && retryAfter >= 0)) {
      throw new RangeError(`retryAfter: ${retryAfter} is no number of seconds, 0 or more`)
    }
    this.retryAfter = retryAfter === undefined ? undefined : Math.ceil(retryAfter)
  }
}
