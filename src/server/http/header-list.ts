/** Flat list of header names and values, as `ServerResponse.writeHead` takes it. */
export type HeaderList = string[]

/**
 * Where the value of a header is: values may be visitors' texts, and must not be taken for names.
 * @param name in lower case.
 * @returns the index of its first value, -1 without one.
 */
export function valueIndex(headers: readonly string[], name: string): number {
  for (let at = 0; at < headers.length; at += 2) {
    const one = headers[at]
    if (one?.length === name.length && one.toLowerCase() === name) return at + 1
  }
  return -1
}

/**
 * Bytes of an answer's headers. Proxies hold all of them before they pass anything on, and have a bound: `deploy/nginx.conf`
 * 32 KiB, of which the status line and Node's own headers take a few hundred bytes.
 */
export const MAX_HEAD_BYTES = 24_576

/** The characters between name and value, and behind the value. */
const SEPARATOR_BYTES = 4

/** An answer whose headers are too large for proxies. */
export class HeadSizeError extends RangeError {
  override readonly name = 'HeadSizeError'
  readonly limit = MAX_HEAD_BYTES
  /** Bytes that they would have. */
  readonly actual: number

  /** @param largest name of the header that takes most. */
  constructor(actual: number, largest: string) {
    super(
      `The headers of this answer would have ${actual} bytes, but proxies take a few kilobytes: ` +
        `at most ${MAX_HEAD_BYTES} are sent. The largest is ${largest}`,
    )
    this.actual = actual
  }
}

/** Names and values by turns; a value may be several, as in `ServerResponse.getHeader`. */
export type HeaderFields = readonly (number | string | readonly string[] | undefined)[]

/** The fault of headers that are too large; `undefined` if there is none. */
export function headSizeFault(fields: HeaderFields): HeadSizeError | undefined {
  let bytes = 0
  for (let at = 0; at < fields.length; at += 2) bytes += fieldBytes(fields, at)
  if (bytes <= MAX_HEAD_BYTES) return undefined
  let largest = 0
  for (let at = 0; at < fields.length; at += 2) {
    if (fieldBytes(fields, at) > fieldBytes(fields, largest)) largest = at
  }
  return new HeadSizeError(bytes, String(fields[largest]))
}

function fieldBytes(fields: HeaderFields, at: number): number {
  const [name, value] = [String(fields[at]), fields[at + 1]]
  if (typeof value !== 'object') return name.length + String(value).length + SEPARATOR_BYTES
  return value.reduce((sum, one) => sum + name.length + one.length + SEPARATOR_BYTES, 0)
}
