/**
 * Filters transactions and spans that are never reported: those that end in a redirect, a refusal or an abort, those of
 * the runtime's own URLs (assets, health, the relay), and prefetches. Covers the forms of the service's SDKs: a
 * transaction that contains its spans, and standalone spans, whose attributes have a type.
 */
import { withoutBasePath } from '../base-path.ts'
import { QUIET_STATUSES } from './is-reportable.ts'
import { isRecord, tagOf, textOf } from './json-values.ts'

type Json = Readonly<Record<string, unknown>>

/** Set to `true` on the span of a prefetch. Requests with `Sec-Purpose` are recognised by that header. */
export const PREFETCH_ATTRIBUTE = 'millrace.prefetch'

/** Names that SDKs derive from the statuses 404, 403, 401 and 499. */
const QUIET_STATUS_NAMES: ReadonlySet<string> = new Set([
  'not_found',
  'permission_denied',
  'unauthenticated',
  'cancelled',
])
const STATUS_CODES = ['http.response.status_code', 'http.status_code', 'status_code']
/** Where SDKs before version 8 write the status; for a redirect, the only place. */
const STATUS_TAG = 'http.status_code'
const STATUS_NAMES = ['sentry.status.message', 'status', 'sentry.status']
const TARGETS = ['url.path', 'url.full', 'http.url', 'http.target', 'http.route', 'url']
const PURPOSE = 'http.request.header.sec-purpose'
const PURPOSES = [PURPOSE, 'http.request.header.sec_purpose']
const RUNTIME_URL = /^(?:\/_m\/(?:assets|reports)\/|\/_m\/build\.json$|\/(?:healthz|readyz)$)/
/** `GET /path`, `/path` or a whole URL; captures the path without query and fragment. */
const NAMED_URL = /^(?:[A-Z]+ )?(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/

/**
 * Whether a standalone span should be reported. Unrecognised ones are.
 * @param relayPath path of the relay, unless it has the runtime's prefix.
 */
export function isReportableSpan(span: unknown, relayPath = ''): boolean {
  if (!isRecord(span)) return true
  const data = isRecord(span['attributes']) ? span['attributes'] : span['data']
  const names = [span['name'], span['description']]
  if (hasQuietTag(span)) return false
  return !isQuiet({ data: isRecord(data) ? data : {}, status: textOf(span['status']), names, relayPath })
}

/**
 * The reportable part of a transaction: the same object, one without some of its spans, or `undefined`. Children of a
 * removed span move to its parent.
 */
export function reportableTransaction(transaction: Json, relayPath = ''): Json | undefined {
  if (!isReportableRoot(transaction, relayPath)) return undefined
  const { spans } = transaction
  if (!Array.isArray(spans)) return transaction
  const kept = reportableSpans(spans, relayPath)
  return kept === spans ? transaction : { ...transaction, spans: kept }
}

/** The reportable spans, the same array if all are. A segment whose own span is removed is removed completely. */
export function reportableSpans(spans: readonly unknown[], relayPath = ''): readonly unknown[] {
  const left = new Set(spans.filter((span) => !isReportableSpan(span, relayPath)))
  if (left.size === 0) return spans
  const parents = new Map<string, unknown>()
  const segments = new Set<string>()
  for (const span of left) {
    if (!isRecord(span)) continue
    const id = textOf(span['span_id'])
    parents.set(id, span['parent_span_id'])
    if (span['is_segment'] === true) segments.add(id)
  }
  // A span without an id cannot be a parent or a segment.
  parents.delete('')
  segments.delete('')
  const remaining = remainingParents(parents)
  return spans.flatMap((span) => {
    if (left.has(span)) return []
    if (!isRecord(span)) return [span]
    return segments.has(segmentOf(span)) ? [] : [withParent(span, remaining)]
  })
}

function isReportableRoot(transaction: Json, relayPath: string): boolean {
  if (hasQuietTag(transaction)) return false
  const contexts = isRecord(transaction['contexts']) ? transaction['contexts'] : {}
  const trace = isRecord(contexts['trace']) ? contexts['trace'] : {}
  const response = isRecord(contexts['response']) ? contexts['response'] : {}
  const request = isRecord(transaction['request']) ? transaction['request'] : {}
  const data = { [PURPOSE]: purposeOf(request['headers']), ...(isRecord(trace['data']) ? trace['data'] : {}) }
  const names = [transaction['transaction'], request['url']]
  const status = textOf(trace['status'])
  return !isQuiet({ data, status, names, relayPath }) && !isQuietCode(response['status_code'])
}

function hasQuietTag({ tags }: Json): boolean {
  return isQuietCode(tagOf(tags, STATUS_TAG))
}

interface Traced {
  readonly data: Json
  readonly status: string
  readonly names: readonly unknown[]
  readonly relayPath: string
}

function isQuiet({ data, status, names, relayPath }: Traced): boolean {
  if (QUIET_STATUS_NAMES.has(status)) return true
  if (STATUS_CODES.some((name) => isQuietCode(valueOf(data[name])))) return true
  if (STATUS_NAMES.some((name) => QUIET_STATUS_NAMES.has(textOf(valueOf(data[name]))))) return true
  if (valueOf(data[PREFETCH_ATTRIBUTE]) === true) return true
  if (PURPOSES.some((name) => isPrefetch(valueOf(data[name])))) return true
  const isOwn = (name: unknown): boolean => isOwnUrl(textOf(name), relayPath)
  return names.some(isOwn) || TARGETS.some((name) => isOwn(valueOf(data[name])))
}

function isOwnUrl(name: string, relayPath: string): boolean {
  if (name === '') return false
  const path = NAMED_URL.exec(name)?.[1]
  if (path === undefined) return false
  const own = withoutBasePath(path)
  return RUNTIME_URL.test(own) || own === relayPath
}

/**
 * A number, or a string with a number. Other values are not converted: they are from anybody, and conversion may throw.
 */
function isQuietCode(code: unknown): boolean {
  return QUIET_STATUSES.has(typeof code === 'number' ? code : Number(textOf(code) || Number.NaN))
}

/** A header's value, or a list of its values. */
function isPrefetch(purpose: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(purpose) ? purpose : [purpose]
  return values.some((value) => textOf(value).includes('prefetch'))
}

/** Attributes of standalone spans are `{ type, value }`. */
function valueOf(attribute: unknown): unknown {
  return isRecord(attribute) && 'value' in attribute ? attribute['value'] : attribute
}

function purposeOf(headers: unknown): unknown {
  if (!isRecord(headers)) return undefined
  const name = Object.keys(headers).find((each) => each.toLowerCase() === 'sec-purpose')
  return name === undefined ? undefined : headers[name]
}

function segmentOf(span: Json): string {
  const { attributes } = span
  return textOf(span['segment_id']) || (isRecord(attributes) ? textOf(valueOf(attributes['sentry.segment.id'])) : '')
}

/**
 * The new parents for children of removed spans. Each path is walked once, however many spans end in it. No SDK writes
 * circular ids: such children have no parent.
 * @param parents of the removed spans, by id.
 */
function remainingParents(parents: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  const remaining = new Map<string, unknown>()
  for (const id of parents.keys()) {
    const way = new Set<string>()
    let parent: unknown = id
    let step = id
    while (parents.has(step) && !remaining.has(step) && !way.has(step)) {
      way.add(step)
      parent = parents.get(step)
      step = textOf(parent)
    }
    const end = remaining.has(step) ? remaining.get(step) : way.has(step) ? undefined : parent
    for (const passed of way) remaining.set(passed, end)
  }
  return remaining
}

function withParent(span: Json, remaining: ReadonlyMap<string, unknown>): Json {
  const former = textOf(span['parent_span_id'])
  return remaining.has(former) ? { ...span, parent_span_id: remaining.get(former) } : span
}
