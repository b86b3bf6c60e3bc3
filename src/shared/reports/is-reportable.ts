/**
 * Decides what is not an error in the browser, for its SDK, and for the relay, which also gets reports of former
 * builds. Redirects and refusals are answers, and nobody misses a cancelled navigation or request. On the server,
 * `is-server-failure.ts` judges thrown values. This file judges thrown values of browsers and error events;
 * `reportable-spans.ts` has the same rule for transactions and spans.
 */
import { controlFlowOf, digestOf } from '../control-flow.ts'
import { isRecord, tagOf, textOf } from './json-values.ts'

/** Names of the runtime's errors that are not failures. */
const QUIET_NAMES: ReadonlySet<string> = new Set(['RedirectSignal', 'RefusalSignal', 'RouteCancelled'])
const ABORT_NAME = 'AbortError'
/** The message of `RouteCancelled`, for reporters that pass on messages without names. */
const ROUTE_CANCELLED = 'Route cancelled'
/** Node's message for a request whose client has disconnected. */
const CONNECTION_ABORTED = 'aborted'
/** A timed out request is a failure, though it also ends by an abort. */
const TOO_LATE = /\btook longer than\b/
/** Prefix of control flow digests; see `controlFlowDigest`. */
const CONTROL_FLOW_DIGEST = 'millrace:'
/** Control flow of Next.js, for pages that were migrated from it, in tabs that are still open. */
const FOREIGN_CONTROL_FLOW = /^NEXT_(?:REDIRECT|NOT_FOUND|HTTP_ERROR_FALLBACK;40[134])(?:$|;)/
/** The SDKs' message for an answer with an error status, if they are configured to report it. */
const HTTP_CLIENT_ERROR = /^HTTP Client Error with status code: (\d{3})$/

/** Browsers' text for an uncaught error without its object, which SDKs use as message or value. */
const TOLD_ERROR = /^(?:uncaught (?:exception: )?)?(\w+): (.*)$/is

/** Statuses that are answers and not failures: redirects, refusals, and a disconnected client (499, nginx's). */
export const QUIET_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 401, 403, 404, 499])

/** Whether a thrown value should be reported. */
export function isReportable(thrown: unknown): boolean {
  if (controlFlowOf(thrown) !== undefined || isQuietDigest(digestOf(thrown))) return false
  if (!isRecord(thrown)) return !isQuietMessage(textOf(thrown))
  return !isQuietError(textOf(thrown['name']), textOf(thrown['message']))
}

/** Whether an error event of the service's SDKs should be reported. Unrecognised events are. */
export function isReportableError(event: unknown): boolean {
  if (!isRecord(event)) return true
  if (isQuietDigest(tagOf(event['tags'], 'digest'))) return false
  const extra = event['extra']
  if (isRecord(extra) && isQuietDigest(textOf(extra['digest']))) return false
  const thrown = outermostException(event)
  if (thrown !== undefined) return !isQuietException(thrown)
  const entry = event['logentry']
  const message = textOf(event['message']) || (isRecord(entry) ? textOf(entry['formatted'] ?? entry['message']) : '')
  return !isQuietMessage(message)
}

function isQuietException(exception: Readonly<Record<string, unknown>>): boolean {
  const { mechanism } = exception
  const data = isRecord(mechanism) ? mechanism['data'] : undefined
  if (isRecord(data) && isQuietDigest(textOf(data['digest']))) return true
  return isQuietError(textOf(exception['type']), textOf(exception['value']))
}

function isQuietError(name: string, message: string): boolean {
  return QUIET_NAMES.has(name) || (name === ABORT_NAME && !TOO_LATE.test(message)) || isQuietMessage(message)
}

function isQuietMessage(message: string): boolean {
  const [, name = '', text = ''] = TOLD_ERROR.exec(message) ?? []
  if (QUIET_NAMES.has(name) || FOREIGN_CONTROL_FLOW.test(text)) return true
  if (message === ROUTE_CANCELLED || message === CONNECTION_ABORTED || FOREIGN_CONTROL_FLOW.test(message)) return true
  if (message.startsWith(`${ABORT_NAME}:`)) return !TOO_LATE.test(message)
  return QUIET_STATUSES.has(Number(HTTP_CLIENT_ERROR.exec(message)?.[1]))
}

function isQuietDigest(digest: string | undefined): boolean {
  return digest !== undefined && (digest.startsWith(CONTROL_FLOW_DIGEST) || FOREIGN_CONTROL_FLOW.test(digest))
}

/** Causes are listed first: the last one was thrown. The service also accepts an exception without a list. */
function outermostException(event: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const { exception } = event
  const values = isRecord(exception) && 'values' in exception ? exception['values'] : exception
  const last: unknown = Array.isArray(values) ? values.at(-1) : values
  return isRecord(last) ? last : undefined
}
