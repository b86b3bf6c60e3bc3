/**
 * Reads events in the error service's format (https://develop.sentry.dev/sdk/data-model/event-payloads/). Anybody can
 * send them: members of an unexpected shape are ignored, and long texts and lists are cut.
 */
import { isRecord, textOf } from '../../../shared/reports/json-values.ts'
import type { ReportEvent, ReportException, ReportFrame, ReportSide } from '../../api/report-inbox.ts'

const LONGEST_TEXT = 2_000 // characters
const LONGEST_NAME = 300 // characters
const MOST_EXCEPTIONS = 5
const MOST_FRAMES = 50
const MOST_TAGS = 50
const MOST_PARTS = 32 // of a fingerprint, each of which may stand for the default group
const MOST_IMAGES = 100
const TRACE = /^[0-9a-f]{32}$/
const DEBUG_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Json = Readonly<Record<string, unknown>>

/** Reads the payload of an `event` or `transaction` item. */
export function readEvent(payload: Json): ReportEvent {
  const exceptions = exceptionsOf(payload)
  const tags = tagsOf(payload['tags'])
  const request = recordOf(payload['request'])
  return {
    eventId: name(payload['event_id']),
    side: sideOf(payload),
    title: titleOf(payload, exceptions),
    level: name(payload['level']) || 'error',
    at: timeOf(payload['timestamp']),
    exceptions,
    digest: optional(tags.find(([tag]) => tag === 'digest')?.[1]),
    release: optional(payload['release']),
    environment: optional(payload['environment']),
    route: optional(payload['transaction']),
    trace: traceOf(payload),
    url: optional(request['url']),
    tags,
  }
}

/** The group by the SDK's `fingerprint`; `undefined` if the event leaves the grouping to us. */
export function fingerprintOf(payload: Json): readonly string[] | undefined {
  const { fingerprint } = payload
  if (!Array.isArray(fingerprint)) return undefined
  const parts = fingerprint
    .slice(0, MOST_PARTS)
    .filter((part) => typeof part === 'string' && part !== '')
    .map(name)
  return parts.length === 0 ? undefined : parts
}

function titleOf(payload: Json, exceptions: readonly ReportException[]): string {
  if (payload['type'] === 'transaction') return name(payload['transaction']) || 'transaction'
  const thrown = exceptions.at(-1)
  if (thrown !== undefined)
    return cut([thrown.type, thrown.value].filter((part) => part !== '').join(': '), LONGEST_NAME)
  return name(messageOf(payload)) || 'An event without a message'
}

function messageOf(payload: Json): string {
  const { message, logentry } = payload
  const entry = recordOf(isRecord(message) ? message : logentry)
  return textOf(message) || textOf(entry['formatted']) || textOf(entry['message'])
}

function sideOf(payload: Json): ReportSide {
  const { platform } = payload
  const sdk = textOf(recordOf(payload['sdk'])['name'])
  if (platform === 'node' || /\.node\b/.test(sdk)) return 'server'
  return platform === 'javascript' || sdk.startsWith('sentry.javascript.') ? 'browser' : 'elsewhere'
}

function traceOf(payload: Json): string | undefined {
  const trace = textOf(recordOf(recordOf(payload['contexts'])['trace'])['trace_id']).toLowerCase()
  return TRACE.test(trace) ? trace : undefined
}

/** Seconds since the epoch, or a date. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value * 1_000 : Date.parse(textOf(value))
  // Beyond this, the number is not a valid date.
  return Math.abs(at) <= 8.64e15 ? Math.round(at) : undefined
}

function tagsOf(value: unknown): (readonly [string, string])[] {
  const pairs: unknown[] = Array.isArray(value) ? value : Object.entries(recordOf(value))
  const tags = new Map<string, string>()
  for (const pair of pairs.slice(0, MOST_TAGS)) {
    const [tag, text] = Array.isArray(pair) ? (pair as unknown[]) : []
    const isShown = typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean'
    if (typeof tag === 'string' && isShown) tags.set(name(tag), cut(String(text), LONGEST_NAME))
  }
  return [...tags]
}

function exceptionsOf(payload: Json): ReportException[] {
  const { exception } = payload
  const values = isRecord(exception) ? exception['values'] : exception
  if (!Array.isArray(values)) return []
  const debugIds = debugIdsOf(payload['debug_meta'])
  // The last exception is the one that was caught; the earlier ones caused it.
  return (values as unknown[]).slice(-MOST_EXCEPTIONS).flatMap((each) => {
    if (!isRecord(each)) return []
    const { frames } = recordOf(each['stacktrace'])
    return {
      type: name(each['type']),
      value: cut(textOf(each['value']), LONGEST_TEXT),
      frames: Array.isArray(frames)
        ? (frames as unknown[])
            .slice(-MOST_FRAMES)
            .toReversed()
            .flatMap((frame) => frameOf(frame, debugIds))
        : [],
    }
  })
}

/** Debug ids by the URL of the script, as frames name it. */
function debugIdsOf(meta: unknown): ReadonlyMap<string, string> {
  const { images } = recordOf(meta)
  const ids = new Map<string, string>()
  for (const image of Array.isArray(images) ? (images as unknown[]).slice(0, MOST_IMAGES) : []) {
    const { type, code_file: file, debug_id: id } = recordOf(image)
    const written = textOf(id).toLowerCase()
    if (type === 'sourcemap' && DEBUG_ID.test(written)) ids.set(textOf(file), written)
  }
  return ids
}

function frameOf(value: unknown, debugIds: ReadonlyMap<string, string>): ReportFrame | [] {
  if (!isRecord(value)) return []
  const debugId = debugIds.get(textOf(value['abs_path'])) ?? debugIds.get(textOf(value['filename']))
  const file = cut(textOf(value['filename']) || textOf(value['abs_path']) || textOf(value['module']), LONGEST_NAME)
  const foreign = /(?:^|\/)node_modules\/|^node:|^(?:chrome|moz|safari(?:-web)?)-extension:/.test(file)
  return {
    function: name(value['function']),
    file,
    line: placeOf(value['lineno']),
    column: placeOf(value['colno']),
    inApp: value['in_app'] !== false && !foreign && file !== '',
    mapped: false,
    ...(debugId === undefined ? {} : { debugId }),
  }
}

function placeOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}

function name(value: unknown): string {
  return cut(textOf(value), LONGEST_NAME)
}

function optional(value: unknown): string | undefined {
  return name(value) || undefined
}

/** Never splits a surrogate pair. */
function cut(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text
        .slice(0, most)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`
}
