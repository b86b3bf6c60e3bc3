/**
 * The envelope format of the error service (https://develop.sentry.dev/sdk/foundations/transport/envelopes/): lines of
 * JSON with payloads between them. Reader and writer are side by side.
 *
 *     {header}\n
 *     {item header}\n
 *     payload\n
 *
 * A payload is as long as the `length` of its item header; without one it ends with its line.
 * Tolerated, as by the service: a missing last newline, empty payloads, an item header at the very end, and empty lines
 * before an item header.
 */
import { isUtf8 } from 'node:buffer'
import { countValues, withMembers } from './json-members.ts'

/** Bytes of a header line, of the envelope or an item. */
export const MAX_HEADER_BYTES = 65_536

/** Items of one envelope. SDKs send one to a few; each costs far more than its bytes. */
export const MAX_ITEMS = 1_000

/** Values of all header lines together: about 20 ms to read. Those of SDKs have about ten. */
const MAX_HEADER_VALUES = 32_768

/** What an item costs, in values: to read its header, to filter it and to write it. */
const ITEM_VALUES = 8
/** Those of the usual envelope: they cost no work. */
const USUAL_VALUES = 128

/** One item. */
export interface EnvelopeItem {
  /** `event`, `transaction`, `attachment` or one of many others; unknown types pass too. */
  readonly type: string
  /** As received, `type` included. */
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Buffer
  /** Its header line, as received or with other members; without one, `header` is written. */
  readonly line?: string
  /** Header line and payload as received, if both are. */
  readonly raw?: Buffer
}

/** A parsed envelope. */
export interface Envelope {
  readonly header: Readonly<Record<string, unknown>>
  readonly items: readonly EnvelopeItem[]
}

/** An envelope parsed from bytes. */
interface ReceivedEnvelope extends Envelope {
  /** Its header line as received. */
  readonly line: string
  /** Everything after that line, as received. */
  readonly rest: Buffer
  /** The work of reading it, as JSON values beyond those of the usual envelope. */
  readonly values: number
}

/** Thrown for an invalid envelope: 400, or 413 above a limit. Repeats nothing that the client sent. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError'
  /** Status code of the answer. */
  readonly status: 400 | 413
  /** The work until it was found invalid, as JSON values beyond those of the usual envelope. */
  values: number

  constructor(status: 400 | 413, message: string, values = 0) {
    super(message)
    this.status = status
    this.values = values
  }
}

/** A line of JSON, and the offset of the bytes after it. */
interface HeaderLine {
  readonly header: Readonly<Record<string, unknown>>
  readonly line: string
  /** Offset after the newline; the end if there is none. */
  readonly next: number
}

const NEWLINE = 0x0a
const NEWLINE_BYTES = Buffer.from('\n')

/**
 * Reads the first line; the beginning of an envelope suffices.
 * @throws {EnvelopeError} 413 for more than `MAX_HEADER_BYTES`, 400 unless it is a JSON object in UTF-8.
 */
export function readEnvelopeHeader(bytes: Buffer): HeaderLine {
  return readHeaderLine(bytes, 0)
}

function readHeaderLine(bytes: Buffer, start: number, budget = newBudget()): HeaderLine {
  const newline = bytes.indexOf(NEWLINE, start)
  const end = newline === -1 ? bytes.length : newline
  if (end - start > MAX_HEADER_BYTES) throw new EnvelopeError(413, 'A header of the envelope is too long')
  const written = bytes.subarray(start, end)
  // A value takes at least one byte: short lines need no count.
  const isShort = written.length <= SHORT_BYTES
  const values = isShort ? SHORT_VALUES : countValues(written, budget.values)
  budget.values -= values
  budget.work += isShort ? 0 : values
  if (budget.values < 0) throw new EnvelopeError(413, 'The headers of the envelope have too many values')
  const line = isUtf8(written) ? written.toString('utf8') : ''
  const header = parseObject(line)
  if (header === undefined) throw new EnvelopeError(400, 'A header of the envelope is not a JSON object')
  return { header, line, next: newline === -1 ? bytes.length : newline + 1 }
}

/** Remaining limits of one envelope. */
interface ReadingBudget {
  /** Left. */
  values: number
  /** Done. */
  work: number
}

function workOf({ work }: ReadingBudget): number {
  return Math.max(0, work - USUAL_VALUES)
}

const SHORT_BYTES = 64
const SHORT_VALUES = 32

function newBudget(): ReadingBudget {
  return { values: MAX_HEADER_VALUES, work: 0 }
}

/** Compared in blocks: 20 MiB may consist of empty lines. */
const BLANK_LINES = Buffer.alloc(4_096, NEWLINE)

function skipBlankLines(bytes: Buffer, start: number): number {
  let offset = start
  if (bytes[offset] !== NEWLINE) return offset
  const { length } = BLANK_LINES
  while (bytes.length - offset >= length && bytes.compare(BLANK_LINES, 0, length, offset, offset + length) === 0) {
    offset += length
  }
  while (bytes[offset] === NEWLINE) offset += 1
  return offset
}

/**
 * Parses an envelope; payloads are views on `bytes`.
 * @throws {EnvelopeError}
 */
export function parseEnvelope(bytes: Buffer): ReceivedEnvelope {
  const budget = newBudget()
  try {
    return readEnvelope(bytes, budget)
  } catch (error) {
    if (error instanceof EnvelopeError) error.values = workOf(budget)
    throw error
  }
}

function readEnvelope(bytes: Buffer, budget: ReadingBudget): ReceivedEnvelope {
  const first = readHeaderLine(bytes, 0, budget)
  const items: EnvelopeItem[] = []
  let offset = skipBlankLines(bytes, first.next)
  while (offset < bytes.length) {
    const line = readHeaderLine(bytes, offset, budget)
    if (items.length === MAX_ITEMS) throw new EnvelopeError(413, 'The envelope has too many items')
    budget.work += ITEM_VALUES
    const { type } = line.header
    if (typeof type !== 'string') throw new EnvelopeError(400, 'An item of the envelope has no type')
    const end = payloadEnd(bytes, line)
    items.push({
      type,
      header: line.header,
      line: line.line,
      payload: bytes.subarray(line.next, end),
      // A header line without a newline cannot be followed by other items.
      ...(bytes[line.next - 1] === NEWLINE ? { raw: bytes.subarray(offset, end) } : {}),
    })
    offset = skipBlankLines(bytes, end + 1)
  }
  return { header: first.header, line: first.line, rest: bytes.subarray(first.next), items, values: workOf(budget) }
}

/** Members of the header that we check: the service must not read another value of the same name. */
const READ_ONCE = ['dsn', 'event_id'] as const

/**
 * A received envelope, byte for byte except for the changes, as the parts to join.
 * @param items the remaining items, with changed ones in place of the originals.
 * @param changes of its header, as for `withMembers`.
 */
export function rewriteEnvelope(
  { line, rest, items: received }: ReceivedEnvelope,
  items: readonly EnvelopeItem[],
  changes: Readonly<Record<string, string | undefined>>,
): readonly Buffer[] {
  const parts: Buffer[] = [Buffer.from(`${withMembers(line, changes, READ_ONCE)}\n`)]
  if (items === received) parts.push(rest)
  else for (const item of items) parts.push(...itemParts(item))
  return parts
}

/** The item with another payload, and changed members in its header, if given. */
export function withPayload(
  { type, header, line = JSON.stringify(header) }: EnvelopeItem,
  payload: Buffer,
  members: Readonly<Record<string, number>> = {},
): EnvelopeItem {
  const changes = { ...members, length: payload.length }
  return { type, header: { ...header, ...changes }, line: withMembers(line, changes), payload }
}

/**
 * Writes an envelope; each item header states the length of its payload.
 * @throws {EnvelopeError} 400 for headers that are too deeply nested.
 */
export function serializeEnvelope({ header, items }: Envelope): Buffer {
  const parts: Buffer[] = [headerBytes(header)]
  for (const item of items) parts.push(...itemParts(item))
  return Buffer.concat(parts)
}

function itemParts({ raw, line, header, payload }: EnvelopeItem): readonly Buffer[] {
  if (raw !== undefined) return [raw, NEWLINE_BYTES]
  const head = line === undefined ? headerBytes({ ...header, length: payload.length }) : Buffer.from(`${line}\n`)
  return [head, payload, NEWLINE_BYTES]
}

function payloadEnd(bytes: Buffer, { header, next }: HeaderLine): number {
  const { length } = header
  if (length === undefined || length === null) {
    const newline = bytes.indexOf(NEWLINE, next)
    return newline === -1 ? bytes.length : newline
  }
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0) {
    throw new EnvelopeError(400, 'The length of an item is not a whole number')
  }
  const end = next + length
  if (end > bytes.length) throw new EnvelopeError(400, 'The envelope ends inside an item')
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

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
