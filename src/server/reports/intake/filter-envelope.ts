/**
 * Removes from an envelope what is never reported, because clients of former builds still send it, and also cookies,
 * credentials, and queries in URLs of Millrace's own browser code. Items that cannot be checked pass: payloads other than JSON, unknown types, and payloads above the
 * limit.
 */
import { reportableEvent } from '../../../shared/reports/reportable-event.ts'
import { isReportableSpan, reportableSpans } from '../../../shared/reports/reportable-spans.ts'
import { isRecord } from '../../../shared/reports/json-values.ts'
import { eventWithoutCredentials, spansWithoutCredentials, spanWithoutCredentials } from './credentials.ts'
import { EnvelopeError, withPayload, type EnvelopeItem } from './envelope.ts'
import { eventWithoutUrlSecrets } from './event-urls.ts'
import { countValues, isNestedDeeply } from './json-members.ts'

/**
 * Bytes of one envelope that are parsed as JSON: some 15 ms of the event loop. The service's limit for an event is 1
 * MiB.
 */
const MOST_JUDGED_BYTES = 2_097_152
/**
 * Values in them. A million empty ones fit into 2 MiB, take most of a second, and compress to 60 bytes of brotli. A
 * page load with the thousand spans that SDKs keep has some 60,000.
 */
const MOST_JUDGED_VALUES = 100_000
/** Below this size values are not counted: reading that many bytes takes as long as keeping the envelope. */
const SHORT_BYTES = 4_096

/** Items that mean nothing without their event. */
const BOUND_TO_EVENT: ReadonlySet<string> = new Set(['attachment', 'form_data', 'profile'])
const EVENTS: ReadonlySet<string> = new Set(['event', 'transaction'])

/**
 * Chooses the items to parse as JSON, before any is parsed.
 * @returns them with the number of their values; small ones count as none.
 * @throws {EnvelopeError} 413 for more values than any SDK sends, 400 for too many nested ones; says how many it counted.
 */
export function chooseJudged(items: readonly EnvelopeItem[]): {
  readonly judged: ReadonlySet<EnvelopeItem>
  readonly values: number
} {
  const judged = new Set<EnvelopeItem>()
  let bytes = 0
  let values = 0
  for (const item of items) {
    const { length } = item.payload
    if ((!EVENTS.has(item.type) && item.type !== 'span') || bytes + length > MOST_JUDGED_BYTES) continue
    bytes += length
    judged.add(item)
    // Many small ones are as expensive as a large one.
    if (bytes > SHORT_BYTES) values += countValues(item.payload, MOST_JUDGED_VALUES)
    if (values > MOST_JUDGED_VALUES) throw tooMuch(item.payload, values)
  }
  return { judged, values }
}

function tooMuch(payload: Buffer, values: number): EnvelopeError {
  return isNestedDeeply(payload)
    ? new EnvelopeError(400, 'An item of the envelope is nested too deeply', values)
    : new EnvelopeError(413, 'An event of the envelope has too many values', values)
}

/** Settings of the filter. */
interface EnvelopeFilter {
  /** Path of the relay, whose own requests are not worth tracing. */
  readonly relayPath: string
  /** Whether errors are kept unchecked, because their sender has already judged them. */
  readonly keepsErrors: boolean
}

/**
 * Items without what is never reported, and without cookies and credentials; the same list if nothing is removed.
 * @param judged the items to check, see `chooseJudged`.
 * @throws {EnvelopeError} 400 if a changed item is too deeply nested to be written.
 */
export function filterItems(
  items: readonly EnvelopeItem[],
  judged: ReadonlySet<EnvelopeItem>,
  filter: EnvelopeFilter,
): readonly EnvelopeItem[] {
  const all = items.map((item) => (judged.has(item) ? judgeItem(item, filter) : item))
  if (all.every((item, at) => item === items[at])) return items
  const kept = all.filter((item) => item !== undefined)
  const hadEvent = items.some(({ type }) => EVENTS.has(type))
  const hasEvent = kept.some(({ type }) => EVENTS.has(type))
  return hadEvent && !hasEvent ? kept.filter(({ type }) => !BOUND_TO_EVENT.has(type)) : kept
}

function judgeItem(item: EnvelopeItem, { relayPath, keepsErrors }: EnvelopeFilter): EnvelopeItem | undefined {
  const value = parseJson(item.payload)
  if (!isRecord(value)) return item
  if (item.type === 'span') return judgeSpans(item, value, relayPath)
  // The item's type counts: the event itself may lack one.
  const typed = item.type === 'transaction' ? { ...value, type: 'transaction' } : value
  const reportable = keepsErrors && typed['type'] !== 'transaction' ? typed : reportableEvent(typed, relayPath)
  if (reportable === undefined) return undefined
  const kept = eventWithoutUrlSecrets(eventWithoutCredentials(reportable))
  return kept === typed ? item : withPayload(item, written(kept))
}

/** A span, or a container of spans. */
function judgeSpans(
  item: EnvelopeItem,
  value: Readonly<Record<string, unknown>>,
  relayPath: string,
): EnvelopeItem | undefined {
  const { items: spans } = value
  if (!Array.isArray(spans)) {
    if (!isReportableSpan(value, relayPath)) return undefined
    const kept = spanWithoutCredentials(value) as object
    return kept === value ? item : withPayload(item, written(kept))
  }
  const kept = spansWithoutCredentials(reportableSpans(spans, relayPath))
  if (kept === spans) return item
  if (kept.length === 0) return undefined
  return withPayload(item, written({ ...value, items: kept }), { item_count: kept.length })
}

function written(value: object): Buffer {
  try {
    return Buffer.from(JSON.stringify(value))
  } catch {
    throw new EnvelopeError(400, 'An item of the envelope is nested too deeply')
  }
}

function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString('utf8'))
  } catch {
    return undefined
  }
}
