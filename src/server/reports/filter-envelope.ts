/**
 * Takes out of an envelope what is never reported, for the clients of former builds that still send it, and cookies and
 * credentials with it. What cannot be judged passes: payloads that are no JSON, types that are not known, and whatever is
 * larger than the bound.
 */
import { reportableEvent } from '../../shared/reports/reportable-event.ts'
import { isReportableSpan, reportableSpans } from '../../shared/reports/reportable-spans.ts'
import { isRecord } from '../../shared/reports/json-values.ts'
import { eventWithoutCredentials, spansWithoutCredentials, spanWithoutCredentials } from './credentials.ts'
import { EnvelopeError, type Envelope, type EnvelopeItem } from './envelope.ts'

/** Bytes of one envelope that are read as JSON: some 15 ms of the event loop. The service takes no event above 1 MiB. */
const MOST_JUDGED_BYTES = 2_097_152

/** Items that mean nothing without the event they came with. */
const BOUND_TO_EVENT: ReadonlySet<string> = new Set(['attachment', 'form_data', 'profile'])
const EVENTS: ReadonlySet<string> = new Set(['event', 'transaction'])

/**
 * The envelope without what is never reported, and without cookies and credentials; the same object where nothing had to go.
 * @param relayPath path of the relay, whose own requests are no work worth tracing.
 * @throws {EnvelopeError} 400 where an item would have to be written anew, and is nested too deeply for that.
 */
export function filterEnvelope(envelope: Envelope, relayPath: string): Envelope {
  const budget = { bytes: MOST_JUDGED_BYTES }
  const judged = envelope.items.map((item) => judgeItem(item, relayPath, budget))
  if (judged.every((item, at) => item === envelope.items[at])) return envelope
  const kept = judged.filter((item) => item !== undefined)
  const hadEvent = envelope.items.some(({ type }) => EVENTS.has(type))
  const hasEvent = kept.some(({ type }) => EVENTS.has(type))
  const items = hadEvent && !hasEvent ? kept.filter(({ type }) => !BOUND_TO_EVENT.has(type)) : kept
  return { header: envelope.header, items }
}

function judgeItem(item: EnvelopeItem, relayPath: string, budget: { bytes: number }): EnvelopeItem | undefined {
  const isEvent = EVENTS.has(item.type)
  if (!isEvent && item.type !== 'span') return item
  if (item.payload.length > budget.bytes) return item
  budget.bytes -= item.payload.length
  const value = parseJson(item.payload)
  if (!isRecord(value)) return item
  if (!isEvent) return judgeSpans(item, value, relayPath)
  // The item's type counts: an event may leave its own out.
  const typed = item.type === 'transaction' ? { ...value, type: 'transaction' } : value
  const reportable = reportableEvent(typed, relayPath)
  if (reportable === undefined) return undefined
  const kept = eventWithoutCredentials(reportable)
  return kept === typed ? item : withPayload(item, kept)
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
    return kept === value ? item : withPayload(item, kept)
  }
  const kept = spansWithoutCredentials(reportableSpans(spans, relayPath))
  if (kept === spans) return item
  if (kept.length === 0) return undefined
  return withPayload({ ...item, header: { ...item.header, item_count: kept.length } }, { ...value, items: kept })
}

function withPayload(item: EnvelopeItem, value: object): EnvelopeItem {
  try {
    return { ...item, payload: Buffer.from(JSON.stringify(value)) }
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
