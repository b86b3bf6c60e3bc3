/**
 * Status codes of refused bodies: malformed, too slow, over a limit, unsupported type or encoding, already read by
 * other code, server full.
 */
export type BodyStatus = 400 | 408 | 413 | 415 | 500 | 503

/** A limit that a body has exceeded. */
export interface PassedLimit {
  /** Name of the limit: a member of `BodyLimits`, or `fields`, `parts`, `fieldBytes`. */
  readonly name: string
  /** Largest allowed value. */
  readonly maximum: number
}

/** Thrown for a body that is refused. The message is for the log and repeats nothing that the client sent. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  /** Status code of the answer. */
  readonly status: BodyStatus
  /** Set when the body is larger than a limit. */
  readonly limit: PassedLimit | undefined

  constructor(status: BodyStatus, message: string, limit?: PassedLimit) {
    super(message)
    this.status = status
    this.limit = limit
  }
}

/** A body larger than a limit: 413. */
export function overLimit(name: string, maximum: number): BodyError {
  return new BodyError(413, `The body is over its limit: ${name} ${maximum}`, { name, maximum })
}
