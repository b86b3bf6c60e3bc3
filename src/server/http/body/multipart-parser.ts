/**
 * The framing of `multipart/form-data` (RFC 2046, section 5.1; RFC 7578). It uses no streams: chunks go in, events come
 * out one by one, and a chunk may end anywhere.
 *
 * | state     | reads                                      | then                    |
 * | --------- | ------------------------------------------ | ----------------------- |
 * | preamble  | to the first delimiter; dropped            | delimiter               |
 * | delimiter | two bytes after a delimiter: `--` or CRLF  | epilogue, or head       |
 * | head      | to the empty line                          | data, after `part`      |
 * | data      | to the next delimiter, as `data`           | delimiter, after `end`  |
 * | epilogue  | to the end; dropped                        |                         |
 */
import { BodyError, overLimit } from './body-error.ts'
import { MAX_PARTS, MAX_PART_HEAD_BYTES } from './body-limits.ts'

/** `part` with its headers, then its content in any number of `data`, then its `end`. */
export type MultipartEvent =
  | { readonly kind: 'part'; readonly head: Buffer }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'end' }

/** Parses one body. */
interface MultipartParser {
  /**
   * Takes the next chunk. Consume all of its events before the next call. Their bytes are views of the chunk.
   * @throws {BodyError} 400 for invalid syntax and for headers over `MAX_PART_HEAD_BYTES`, 413 above `MAX_PARTS`.
   */
  push(chunk: Buffer): Generator<MultipartEvent, void>
  /**
   * Ends the body.
   * @throws {BodyError} 400 if the final boundary is missing.
   */
  finish(): void
}

const LINE_BREAK = Buffer.from('\r\n')
const EMPTY_LINE = Buffer.from('\r\n\r\n')
const FINAL = Buffer.from('--')
const NOTHING = Buffer.alloc(0)
const CARRIAGE_RETURN = 0x0d

/** @param boundary from the `Content-Type`, already checked. */
export function createMultipartParser(boundary: string): MultipartParser {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let state: 'preamble' | 'delimiter' | 'head' | 'data' | 'epilogue' = 'preamble'
  // The line break of the first delimiter is the beginning of the body.
  let held: Buffer = LINE_BREAK
  let parts = 0

  function* push(chunk: Buffer): Generator<MultipartEvent, void> {
    if (state === 'epilogue') return
    let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    held = NOTHING
    for (;;) {
      if (state === 'delimiter') {
        if (bytes.length < 2) break
        if (bytes.subarray(0, 2).equals(FINAL)) {
          state = 'epilogue'
          return
        }
        if (!bytes.subarray(0, 2).equals(LINE_BREAK)) throw new BodyError(400, 'A boundary followed by other bytes')
        state = 'head'
      } else if (state === 'head') {
        // The line break after the delimiter is still there: a part without headers begins with the empty line.
        const end = bytes.indexOf(EMPTY_LINE)
        if ((end === -1 ? bytes.length : end) > MAX_PART_HEAD_BYTES) {
          const limit = { name: 'partHeadBytes', maximum: MAX_PART_HEAD_BYTES }
          throw new BodyError(400, 'A part with too long headers', limit)
        }
        if (end === -1) break
        parts += 1
        if (parts > MAX_PARTS) throw overLimit('parts', MAX_PARTS)
        yield { kind: 'part', head: bytes.subarray(LINE_BREAK.length, end) }
        bytes = bytes.subarray(end + EMPTY_LINE.length)
        state = 'data'
      } else {
        const inPart = state === 'data'
        const found = bytes.indexOf(delimiter)
        const end = found === -1 ? startOfDelimiter(bytes, delimiter) : found
        if (inPart && end > 0) yield { kind: 'data', bytes: bytes.subarray(0, end) }
        bytes = bytes.subarray(end)
        if (found === -1) break
        if (inPart) yield { kind: 'end' }
        bytes = bytes.subarray(delimiter.length)
        state = 'delimiter'
      }
    }
    held = bytes
  }

  return {
    push,
    finish() {
      if (state !== 'epilogue') throw new BodyError(400, 'A multipart body without its final boundary')
    },
  }
}

/** Where a delimiter may begin that the next chunk completes; the chunk's length if nowhere. */
function startOfDelimiter(bytes: Buffer, delimiter: Buffer): number {
  const first = Math.max(0, bytes.length - delimiter.length + 1)
  // A delimiter has one carriage return, so only the last one can be its beginning.
  const start = bytes.subarray(first).lastIndexOf(CARRIAGE_RETURN)
  if (start === -1) return bytes.length
  const tail = bytes.subarray(first + start)
  return tail.equals(delimiter.subarray(0, tail.length)) ? first + start : bytes.length
}
