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

/** The file that makes a body too large. */
interface LargeFile {
  /** Name of its field. */
  readonly field: string
  /** The fields before it, if they have not been passed on. */
  readonly fields?: readonly (readonly [name: string, value: string | File])[]
}

/** Thrown for a body that is refused. The message is for the log and repeats nothing that the client sent. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  /** Status code of the answer. */
  readonly status: BodyStatus
  /** Set when the body is larger than a limit. */
  readonly limit: PassedLimit | undefined
  /** Set when a file makes it too large. */
  readonly file: LargeFile | undefined

  constructor(status: BodyStatus, message: string, limit?: PassedLimit, file?: LargeFile) {
    super(message)
    this.status = status
    this.limit = limit
    this.file = file
  }
}

/** A body larger than a limit: 413. */
export function overLimit(name: string, maximum: number): BodyError {
  return new BodyError(413, `The body is over its limit: ${name} ${maximum}`, { name, maximum })
}

/** The same error, which a file has caused; anything but a passed limit as it is. */
export function ofFile(error: unknown, file: LargeFile): unknown {
  if (!(error instanceof BodyError) || error.limit === undefined) return error
  return new BodyError(error.status, error.message, error.limit, file)
}
