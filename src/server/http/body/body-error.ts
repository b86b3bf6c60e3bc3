/**
 * Statuses of bodies that are refused: malformed, too slow, over a limit, of a kind or an encoding nobody reads, read by
 * somebody else, too many.
 */
export type BodyStatus = 400 | 408 | 413 | 415 | 500 | 503

/** A bound that a body has passed. */
export interface PassedLimit {
  /** What is bounded: a member of `BodyLimits`, or `fields`, `parts`, `fieldBytes`. */
  readonly name: string
  /** The largest value that is let through. */
  readonly maximum: number
}

/** Thrown for a body that cannot be taken. The message is for the log, and repeats nothing of what was sent. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  /** Status of the answer. */
  readonly status: BodyStatus
  /** Set where the body is larger than a bound. */
  readonly limit: PassedLimit | undefined

  constructor(status: BodyStatus, message: string, limit?: PassedLimit) {
    super(message)
    this.status = status
    this.limit = limit
  }
}

/** A body larger than a bound: 413. */
export function overLimit(name: string, maximum: number): BodyError {
  return new BodyError(413, `The body is over its limit: ${name} ${maximum}`, { name, maximum })
}
