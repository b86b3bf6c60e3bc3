/** What one body may cost. The members are the action's own; the constants hold for all. */
export interface BodyLimits {
  /** Most bytes of the whole body as it is sent, files included. */
  readonly bytes: number
  /** Most files; a field for a file that was left empty is none. */
  readonly files: number
  /** Most bytes of one file. */
  readonly fileBytes: number
  /** How long the client may send nothing while we wait for it, in ms. */
  readonly timeoutMs: number
  /** Files are handed on while they come; otherwise they are held in memory. */
  readonly streamed: boolean
}

/** Fields of a form. Each costs far more than its bytes: `a=&` a million times is 3 MB and a million entries. */
export const MAX_FIELDS = 1_000

/** Parts of a multipart body, files and fields together. */
export const MAX_PARTS = 1_000

/** UTF-8 bytes of a field's name. */
export const MAX_NAME_BYTES = 200

/** Levels of a name: `a[0].b` has three. */
export const MAX_NAME_DEPTH = 8

/** Faults of one input that are told: a form has no more fields, and each costs thirty times the bytes that have it. */
export const MOST_FAULTS = 1_000

/** Levels of arrays and objects in JSON: no schema needs more, and whoever walks the value may do so by recursion. */
export const MAX_JSON_DEPTH = 32

/** Bytes of the headers of one part: a name, a file's name and a media type fit many times over. */
export const MAX_PART_HEAD_BYTES = 8_192

/** Bytes of fields and heads, which are held in memory, of a body whose files are streamed. */
export const MAX_STREAMED_FIELD_BYTES = 1_048_576

/** Bytes a second below which a client keeps us waiting on purpose; the slowest mobile networks give several times that. */
export const MIN_BYTES_PER_SECOND = 1_024

/** Without a byte for this long the client has gone to sleep, or wants to keep us waiting, in ms. */
export const BODY_SILENCE_MS = 10_000

/** How long we wait for a client, all in all, before its rate is looked at, in ms. */
export const RATE_GRACE_MS = 10_000
