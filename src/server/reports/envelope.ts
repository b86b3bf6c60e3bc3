/**
 * The envelope format of the error service (https://develop.sentry.dev/sdk/foundations/transport/envelopes/): lines of
 * JSON with payloads between them. Reader and writer stand side by side.
 *
 *     {header}\n
 *     {item header}\n
 *     payload\n
 *
 * A payload is as long as its item header's `length` says, whatever bytes it has; without one it ends with its line.
 * Tolerated as by the service: a missing last newline, empty payloads, an item header at the very end, and empty lines
 * before an item header.
 */
import { isUtf8 } from 'node:buffer'

/** Bytes of a header's line, the envelope's own or an item's (contract, section 8). */
export const MAX_HEADER_BYTES = 65_536

/** Items of one envelope. SDKs send one to a few; each costs far more than its bytes. */
export const MAX_ITEMS = 1_000

/** One item. */
export interface EnvelopeItem {
  /** `event`, `transaction`, `attachment` or one of many others; what is not known passes too. */
  readonly type: string
  /** As it came, `type` included. */
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Buffer
}

/** An envelope, taken apart. */
export interface Envelope {
  readonly header: Readonly<Record<string, unknown>>
  readonly items: readonly EnvelopeItem[]
}

/** Thrown for bytes that are no envelope: 400, or 413 where a bound is passed. Repeats nothing of what was sent. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError'
  /** Status of the answer. */
  readonly status: 400 | 413

  constructor(status: 400 | 413, message: string) {
    super(message)
    this.status = status
  }
}

/** A line of JSON, and where the bytes behind it begin. */
export interface HeaderLine {
  readonly header: Readonly<Record<string, unknown>>
  /** Offset behind the newline; the end where there is none. */
  readonly next: number
}

const NEWLINE = 0x0a
const NEWLINE_BYTES = Buffer.from('\n')

/**
 * Reads the first line, which the beginning of an envelope is enough for.
 * @throws {EnvelopeError} 413 for more than `MAX_HEADER_BYTES`, 400 for what is no JSON object in UTF-8.
 */
export function readEnvelopeHeader(bytes: Buffer): HeaderLine {
  return readHeaderLine(bytes, 0)
}

function readHeaderLine(bytes: Buffer, start: number): HeaderLine {
  const newline = bytes.indexOf(NEWLINE, start)
  const end = newline === -1 ? bytes.length : newline
  if (end - start > MAX_HEADER_BYTES) throw new EnvelopeError(413, 'A header of the envelope is too long')
  const header = parseObject(bytes.subarray(start, end))
  if (header === undefined) throw new EnvelopeError(400, 'A header of the envelope is no JSON object')
  return { header, next: newline === -1 ? bytes.length : newline + 1 }
}

function skipBlankLines(bytes: Buffer, start: number): number {
  let offset = start
  while (bytes[offset] === NEWLINE) offset += 1
  return offset
}

/**
 * Takes an envelope apart; payloads are views on `bytes`.
 * @throws {EnvelopeError}
 */
export function parseEnvelope(bytes: Buffer): Envelope {
  const first = readEnvelopeHeader(bytes)
  const items: EnvelopeItem[] = []
  let offset = skipBlankLines(bytes, first.next)
  while (offset < bytes.length) {
    const line = readHeaderLine(bytes, offset)
    if (items.length === MAX_ITEMS) throw new EnvelopeError(413, 'The envelope has too many items')
    const { type } = line.header
    if (typeof type !== 'string') throw new EnvelopeError(400, 'An item of the envelope has no type')
    const end = payloadEnd(bytes, line)
    items.push({ type, header: line.header, payload: bytes.subarray(line.next, end) })
    offset = skipBlankLines(bytes, end + 1)
  }
  return { header: first.header, items }
}

/**
 * Writes an envelope; each item header says the length of its payload.
 * @throws {EnvelopeError} 400 for headers that are nested too deeply to be written.
 */
export function serializeEnvelope({ header, items }: Envelope): Buffer {
  const parts: Buffer[] = [headerBytes(header)]
  for (const { header: itemHeader, payload } of items) {
    parts.push(headerBytes({ ...itemHeader, length: payload.length }), payload, NEWLINE_BYTES)
  }
  return Buffer.concat(parts)
}

function payloadEnd(bytes: Buffer, { header, next }: HeaderLine): number {
  const { length } = header
  if (length === undefined || length === null) {
    const newline = bytes.indexOf(NEWLINE, next)
    return newline === -1 ? bytes.length : newline
  }
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0) {
    throw new EnvelopeError(400, 'The length of an item is no whole number')
  }
  const end = next + length
  if (end > bytes.length) throw new EnvelopeError(400, 'The envelope ends inside of an item')
  if (end < bytes.length && bytes[end] !== NEWLINE) {
    throw new EnvelopeError(400, 'An item is longer than its length says')
  }
  return end
}

function headerBytes(header: Readonly<Record<string, unknown>>): Buffer {
  try {
    return Buffer.from(`${JSON.stringify(header)}\n`)
  } catch {
    throw new EnvelopeError(400, 'A header of the envelope is nested too deeply')
  }
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (!isUtf8(bytes)) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
