/**
 * Takes out of an envelope what is never reported, for the clients of former builds that still send it, and cookies and
 * credentials with it. What cannot be judged passes: payloads that are no JSON, types that are not known, and whatever is
 * larger than the bound.
 */
import { reportableEvent } from '../../../shared/reports/reportable-event.ts'
import { isReportableSpan, reportableSpans } from '../../../shared/reports/reportable-spans.ts'
import { isRecord } from '../../../shared/reports/json-values.ts'
import { eventWithoutCredentials, spansWithoutCredentials, spanWithoutCredentials } from './credentials.ts'
import { EnvelopeError, withPayload, type EnvelopeItem } from './envelope.ts'
import { countValues, isNestedDeeply } from './json-members.ts'

/** Bytes of one envelope that are read as JSON: some 15 ms of the event loop. The service takes no event above 1 MiB. */
const MOST_JUDGED_BYTES = 2_097_152
/**
 * Values in them. A million empty ones fit into 2 MiB, take most of a second, and come in 60 bytes of brotli. A page load
 * with the thousand spans that SDKs keep has some 60,000.
 */
const MOST_JUDGED_VALUES = 100_000
/** Below it, values are not counted: reading that many bytes takes as long as keeping the envelope. */
const SHORT_BYTES = 4_096

/** Items that mean nothing without the event they came with. */
const BOUND_TO_EVENT: ReadonlySet<string> = new Set(['attachment', 'form_data', 'profile'])
const EVENTS: ReadonlySet<string> = new Set(['event', 'transaction'])

/**
 * Items that are to be read as JSON, chosen before any is.
 * @returns with the number of their values; small ones count for none.
 * @throws {EnvelopeError} 413 for more values than any SDK sends, 400 for as many inside each other.
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
    // Many small ones are as dear as a large one.
    if (bytes > SHORT_BYTES) values += countValues(item.payload, MOST_JUDGED_VALUES)
    if (values > MOST_JUDGED_VALUES) throw tooMuch(item.payload)
  }
  return { judged, values }
}

function tooMuch(payload: Buffer): EnvelopeError {
  return isNestedDeeply(payload)
    ? new EnvelopeError(400, 'An item of the envelope is nested too deeply')
    : new EnvelopeError(413, 'An event of the envelope holds too much')
}

/** What is left out of envelopes. */
export interface EnvelopeFilter {
  /** Path of the relay, whose own requests are not worth tracing. */
  readonly relayPath: string
  /** Errors are kept without a look at what they say: their sender has judged what was thrown. */
  readonly keepsErrors: boolean
}

/**
 * Items without what is never reported, and without cookies and credentials; the same list where nothing had to go.
 * @param judged those that are looked at, see `chooseJudged`.
 * @throws {EnvelopeError} 400 where an item would have to be written again, and is nested too deeply for that.
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
  // The item's type counts: an event may leave its own out.
  const typed = item.type === 'transaction' ? { ...value, type: 'transaction' } : value
  const reportable = keepsErrors && typed['type'] !== 'transaction' ? typed : reportableEvent(typed, relayPath)
  if (reportable === undefined) return undefined
  const kept = eventWithoutCredentials(reportable)
  return kept === typed ? item : withPayload(item, written(kept))
}

/** A span by itself, or a container of them. */
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
