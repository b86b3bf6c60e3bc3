/** Options of `UnavailableError`. */
export interface UnavailableOptions {
  /** Seconds to wait before the next try: the `Retry-After` of the answer. Default: no such header. */
  readonly retryAfter?: number | undefined
}

/**
 * Thrown by a loader when something that it needs is temporarily unavailable. Before the first byte it leads to status
 * 503 and the `error` fallback; clients that support it try again.
 * @example
 * ```ts
 * import { UnavailableError } from 'millrace/server'
 *
 * export async function loader() {
 *   const prices = await readPrices().catch(() => undefined)
 *   if (prices === undefined) throw new UnavailableError('The exchange is closed', { retryAfter: 60 })
 *   return { prices }
 * }
 * ```
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  /** Whole seconds, if stated. */
  readonly retryAfter: number | undefined

  /**
   * @param message for the log; visitors never see it.
   * @throws {RangeError} for a negative or non-finite `retryAfter`.
   */
  constructor(message = 'Unavailable at present', { retryAfter }: UnavailableOptions = {}) {
    super(message)
    if (retryAfter !== undefined && !(Number.isFinite(retryAfter) && retryAfter >= 0)) {
      throw new RangeError(`retryAfter: ${retryAfter} is not a number of seconds, 0 or more`)
    }
    this.retryAfter = retryAfter === undefined ? undefined : Math.ceil(retryAfter)
  }
}
