import type { ByteSource } from './byte-source.ts'

/** One chunk of a body, as the other side cut it. Without chunked framing the whole body is one. */
interface RawChunk {
  readonly bytes: Buffer
  /** Number of the socket read that completed it: smaller came earlier, equal came together. */
  readonly arrival: number
}

/** An answer as it stood on the wire. */
export interface RawResponse {
  /** `HTTP/1.1`, as written. */
  readonly version: string
  readonly status: number
  readonly reason: string
  /** In order, names as written, repeated ones apart. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The value of a header by any spelling of its name; several are joined by a comma; `undefined` for none. */
  header(name: string): string | undefined
  /** Statuses of the interim (1xx) answers before this one. */
  readonly interim: readonly number[]
  /** What said where the body ends. */
  readonly framing: 'chunked' | 'length' | 'close' | 'none'
  readonly chunks: readonly RawChunk[]
  readonly trailers: readonly (readonly [name: string, value: string])[]
  /** All chunks together, still encoded as `Content-Encoding` says. */
  readonly body: Buffer
  /** `body` as UTF-8. */
  readonly text: string
  /** `false` where the connection ended before the framing said so. */
  readonly complete: boolean
}

/** An answer that is none: against the grammar of RFC 9112, or cut off in its head. */
export class RawHttpError extends Error {
  override readonly name = 'RawHttpError'
}

type Headers = readonly (readonly [string, string])[]
type Body = Pick<RawResponse, 'framing' | 'chunks' | 'trailers' | 'complete'>

const STATUS_LINE = /^(HTTP\/1\.[01]) ([1-5]\d\d) ?([\t\x20-\x7e\x80-\xff]*)$/
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/
const CHUNK_SIZE = /^([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?$/

/**
 * Reads one answer. Strict: what a lenient client would guess at is an error here.
 * @param source positioned at a status line.
 * @param head whether the request was `HEAD`.
 * @throws {RawHttpError}
 */
export async function readResponse(source: ByteSource, head: boolean): Promise<RawResponse> {
  const interim: number[] = []
  for (;;) {
    const { version, status, reason } = await readStatusLine(source)
    const headers = await readFields(source)
    if (headers === undefined) throw new RawHttpError('The connection ended inside the head of an answer.')
    if (status < 200 && status !== 101) {
      interim.push(status)
      continue
    }
    const bodyless = head || status === 101 || status === 204 || status === 304
    const body = await readBody(source, headers, bodyless)
    const bytes = Buffer.concat(body.chunks.map((chunk) => chunk.bytes))
    return {
      version,
      status,
      reason,
      headers,
      header: (name) => fieldValue(headers, name),
      interim,
      ...body,
      body: bytes,
      text: bytes.toString('utf8'),
    }
  }
}

async function readStatusLine(source: ByteSource) {
  const line = await source.line()
  if (line === undefined) throw new RawHttpError('The connection ended before an answer.')
  const match = STATUS_LINE.exec(line)
  if (match === null) throw new RawHttpError(`No status line: ${JSON.stringify(line)}`)
  const [, version = '', status = '', reason = ''] = match
  return { version, status: Number(status), reason }
}

/** The lines up to an empty one; `undefined` when the connection ends first. */
async function readFields(source: ByteSource): Promise<Headers | undefined> {
  const fields: [string, string][] = []
  for (let line = await source.line(); line !== ''; line = await source.line()) {
    if (line === undefined) return undefined
    const match = FIELD.exec(line)
    if (match === null) throw new RawHttpError(`No header field: ${JSON.stringify(line)}`)
    fields.push([match[1] ?? '', match[2] ?? ''])
  }
  return fields
}

function fieldValue(fields: Headers, name: string): string | undefined {
  const wanted = name.toLowerCase()
  const values = fields.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

async function readBody(source: ByteSource, headers: Headers, bodyless: boolean): Promise<Body> {
  const encoding = fieldValue(headers, 'transfer-encoding')
  const length = fieldValue(headers, 'content-length')
  if (encoding !== undefined && length !== undefined) {
    throw new RawHttpError('Both Transfer-Encoding and Content-Length: two readers would see two different answers.')
  }
  if (length !== undefined && !/^\d+$/.test(length)) throw new RawHttpError(`No length: ${length}`)
  if (bodyless) return { framing: 'none', chunks: [], trailers: [], complete: true }
  if (encoding?.toLowerCase() === 'chunked') return readChunks(source)
  if (encoding !== undefined) throw new RawHttpError(`Unknown Transfer-Encoding: ${encoding}`)
  const bytes = await source.take(length === undefined ? Number.POSITIVE_INFINITY : Number(length))
  return {
    framing: length === undefined ? 'close' : 'length',
    chunks: bytes.length === 0 ? [] : [{ bytes, arrival: source.arrivals() }],
    trailers: [],
    complete: length === undefined ? !source.failed() : bytes.length === Number(length),
  }
}

async function readChunks(source: ByteSource): Promise<Body> {
  const chunks: RawChunk[] = []
  const cutOff = (): Body => ({ framing: 'chunked', chunks, trailers: [], complete: false })
  for (;;) {
    const line = await source.line()
    if (line === undefined) return cutOff()
    const size = CHUNK_SIZE.exec(line)
    if (size === null) throw new RawHttpError(`No chunk size: ${JSON.stringify(line)}`)
    const count = Number.parseInt(size[1] ?? '', 16)
    if (count === 0) {
      const trailers = await readFields(source)
      return trailers === undefined ? cutOff() : { framing: 'chunked', chunks, trailers, complete: true }
    }
    const bytes = await source.take(count)
    if (bytes.length > 0) chunks.push({ bytes, arrival: source.arrivals() })
    const end = await source.take(2)
    if (end.length < 2) return cutOff()
    if (end.toString('latin1') !== '\r\n') throw new RawHttpError('A chunk is longer than its size says.')
  }
}
