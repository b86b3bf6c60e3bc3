/** Limits of one body. The members are set per action; the constants apply to all. */
export interface BodyLimits {
  /** Maximum bytes of the whole body as sent, files included. */
  readonly bytes: number
  /** Maximum number of files; a file field that was left empty does not count. */
  readonly files: number
  /** Maximum bytes of one file. */
  readonly fileBytes: number
  /** Longest silence of the client while we wait for data, in ms. */
  readonly timeoutMs: number
  /** Whether files are passed on while they arrive; otherwise they are held in memory. */
  readonly streamed: boolean
  /**
   * Whether the fields before the first file are wanted of a body that declares to be too large, to show the fault at its
   * field. They must arrive with the head, or soon after it.
   */
  readonly showsFault?: boolean
}

/** Fields of a form. Each costs far more than its bytes: a million times `a=&` is 3 MB and a million entries. */
export const MAX_FIELDS = 1_000

/** Parts of a multipart body, files and fields together. */
export const MAX_PARTS = 1_000

/** UTF-8 bytes of a field's name. */
export const MAX_NAME_BYTES = 200

/** Levels of a name: `a[0].b` has three. */
export const MAX_NAME_DEPTH = 8

/**
 * Reported faults of one input: a form has no more fields, and each fault costs thirty times the bytes that cause it.
 */
export const MOST_FAULTS = 1_000

/** Levels of arrays and objects in JSON: no schema needs more, and code that walks the value may recurse. */
export const MAX_JSON_DEPTH = 32

/**
 * Values of a JSON body of a megabyte, names of members not counted: a schema takes microseconds for each, in one piece, and
 * far more if it refuses all of them.
 */
export const MAX_JSON_VALUES = 50_000

/** For each value of a body that may be larger, its limit has that many bytes. */
export const BYTES_PER_JSON_VALUE = 20

/** Bytes of the headers of one part: ample for a field name, a file name and a media type. */
export const MAX_PART_HEAD_BYTES = 8_192

/** Bytes of fields and part headers, which are held in memory, of a body whose files are streamed. */
export const MAX_STREAMED_FIELD_BYTES = 1_048_576

/** Bytes per second below which a client counts as stalling; the slowest mobile networks are several times faster. */
export const MIN_BYTES_PER_SECOND = 1_024

/** After this silence the client is asleep or stalling on purpose, in ms. */
export const BODY_SILENCE_MS = 10_000

/** How late a sender may be, in ms: see `body-pace.ts`. */
export const RATE_GRACE_MS = 10_000
