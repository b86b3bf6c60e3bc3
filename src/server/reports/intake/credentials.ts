/**
 * Removes cookies and credentials from reports, whichever client sent them. Covers the places where the service's SDKs
 * write headers: `request` and the context `response` of an event, and attributes of transactions and spans. Other
 * places belong to the application.
 */
import { isRecord, textOf } from '../../../shared/reports/json-values.ts'

type Json = Readonly<Record<string, unknown>>

const HEADER = /^(?:set-)?cookie2?$|^(?:proxy-)?authorization$/i
/** With a suffix: some SDKs write an attribute for each cookie. */
const ATTRIBUTE = /^http\.(?:request|response)\.header\.(?:(?:set[-_])?cookie|(?:proxy[-_])?authorization)(?:\.|$)/i

/** An event or transaction without credentials; the same object if it has none. */
export function eventWithoutCredentials(event: Json): Json {
  const { contexts, spans } = event
  return replaced(event, {
    request: withoutHeaders(event['request']),
    contexts: isRecord(contexts)
      ? replaced(contexts, {
          response: withoutHeaders(contexts['response']),
          trace: spanWithoutCredentials(contexts['trace']),
        })
      : contexts,
    spans: Array.isArray(spans) ? mapped(spans, spanWithoutCredentials) : spans,
  })
}

/** A span without credentials, part of a transaction or on its own; the same value if it has none. */
export function spanWithoutCredentials(span: unknown): unknown {
  if (!isRecord(span)) return span
  return replaced(span, { data: withoutAttributes(span['data']), attributes: withoutAttributes(span['attributes']) })
}

/** The same array if nothing is removed. */
export function spansWithoutCredentials(spans: readonly unknown[]): readonly unknown[] {
  return mapped(spans, spanWithoutCredentials)
}

function withoutAttributes(attributes: unknown): unknown {
  return isRecord(attributes) ? kept(attributes, (name) => !ATTRIBUTE.test(name)) : attributes
}

/** Of a request or an answer. The service accepts headers as an object and as pairs. */
function withoutHeaders(message: unknown): unknown {
  if (!isRecord(message)) return message
  const { headers } = message
  const pure = Array.isArray(headers)
    ? filtered(headers, (pair) => !(Array.isArray(pair) && HEADER.test(textOf(pair[0]))))
    : isRecord(headers)
      ? kept(headers, (name) => !HEADER.test(name))
      : headers
  return kept(replaced(message, { headers: pure }), (name) => name !== 'cookies')
}

/** The object with existing members replaced; the same object if they are equal. */
function replaced(object: Json, members: Json): Json {
  const changed = Object.entries(members).filter(([name, value]) => name in object && object[name] !== value)
  return changed.length === 0 ? object : { ...object, ...Object.fromEntries(changed) }
}

function kept(object: Json, isKept: (name: string) => boolean): Json {
  const entries = Object.entries(object)
  const left = entries.filter(([name]) => isKept(name))
  return left.length === entries.length ? object : Object.fromEntries(left)
}

function filtered(list: readonly unknown[], isKept: (value: unknown) => boolean): readonly unknown[] {
  const left = list.filter(isKept)
  return left.length === list.length ? list : left
}

function mapped(list: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  const all = list.map(map)
  return all.every((value, at) => value === list[at]) ? list : all
}
