import { isReportableError } from './is-reportable.ts'
import { isRecord } from './json-values.ts'
import { reportableTransaction } from './reportable-spans.ts'

/**
 * An event as it may be reported: the same object, a transaction without some of its spans, or `undefined` for what is
 * no error and no work worth tracing. The shape of an SDK's `beforeSend` and `beforeSendTransaction`.
 * @param relayPath path of the relay, where it is not one of the runtime's prefix.
 */
export function reportableEvent<Event>(event: Event, relayPath = ''): Event | undefined {
  if (!isRecord(event)) return event
  if (event['type'] === 'transaction') return reportableTransaction(event, relayPath) as Event | undefined
  return isReportableError(event) ? event : undefined
}
