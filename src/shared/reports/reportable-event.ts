import { isReportableError } from './is-reportable.ts'
import { isRecord } from './json-values.ts'
import { reportableTransaction } from './reportable-spans.ts'

/**
 * The reportable part of an event: the same object, a transaction without some of its spans, or `undefined` if it is
 * not an error and not worth tracing. Usable as an SDK's `beforeSend` and `beforeSendTransaction`.
 * @param relayPath path of the relay, unless it has the runtime's prefix.
 */
export function reportableEvent<Event>(event: Event, relayPath = ''): Event | undefined {
  if (!isRecord(event)) return event
  if (event['type'] === 'transaction') return reportableTransaction(event, relayPath) as Event | undefined
  return isReportableError(event) ? event : undefined
}
