import { readMediaType } from '../header-parameters.ts'
import { BodyError, overLimit } from './body-error.ts'
import { boundaryOf } from './body-kind.ts'
import { MAX_FIELDS, MAX_PARTS } from './body-limits.ts'

/** Counts the fields of a form while its bytes are read: before a parser keeps them, and empty ones, too. */
export interface FieldCount {
  /**
   * What is counted, for the parser; `undefined` if it is no form. In the visitor's own `Content-Type`, with quotes,
   * backslashes and commas, the parser could find another type or boundary.
   */
  readonly contentType: string | undefined
  /** Takes the next bytes. */
  add(bytes: Uint8Array): void
  /** Why this is no form, or one with too many fields or parts, as far as it has been read. */
  readonly fault: BodyError | undefined
}

/**
 * Begins at the first byte.
 * @param contentType only what can be read in one way: of a list, parsers take different members.
 */
export function countFields(contentType: string | undefined): FieldCount {
  const { value, parameters } = readMediaType(contentType ?? '') ?? {}
  const boundary = parameters && boundaryOf(parameters)
  if (value === 'application/x-www-form-urlencoded') {
    return countTexts({ contentType: value, text: '&', most: MAX_FIELDS - 1, name: 'fields', maximum: MAX_FIELDS })
  }
  if (value !== 'multipart/form-data') return refused(new BodyError(415, 'A body that is no form'))
  if (boundary === undefined) return refused(new BodyError(400, 'A multipart body without a boundary'))
  return countTexts({
    contentType: `multipart/form-data; boundary="${boundary}"`,
    text: `--${boundary}`,
    most: MAX_PARTS + 1,
    name: 'parts',
    maximum: MAX_PARTS,
  })
}

function refused(fault: BodyError): FieldCount {
  return { contentType: undefined, add: () => undefined, fault }
}

/** What occurs once for each field. */
interface CountedText {
  readonly contentType: string
  readonly text: string
  /** How often it may occur; then counting ends. */
  readonly most: number
  readonly name: string
  readonly maximum: number
}

function countTexts({ contentType, text: given, most, name, maximum }: CountedText): FieldCount {
  const text = Buffer.from(given, 'latin1')
  let count = 0
  let tail: Buffer = Buffer.alloc(0)
  const held = text.length - 1
  const countIn = (bytes: Buffer): void => {
    for (let at = bytes.indexOf(text); at !== -1 && count <= most; at = bytes.indexOf(text, at + text.length))
      count += 1
  }
  return {
    contentType,
    add(chunk) {
      if (count > most) return
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      countIn(bytes)
      if (held === 0) return
      // Of one that begins in the bytes before, the end is in these. Either part is too short for a whole one.
      countIn(Buffer.concat([tail, bytes.subarray(0, held)]))
      tail = Buffer.concat([tail, bytes.subarray(-held)]).subarray(-held)
    },
    get fault() {
      return count > most ? overLimit(name, maximum) : undefined
    },
  }
}
