/**
 * What crosses a proxy and what ends at it. Fields about one connection (RFC 9110, section 7.6.1) never cross, nor do
 * those that a client's or upstream's `Connection` names; how long a body is, each side is told anew.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'

/** What the upstream is told of the visitor. Nothing that the visitor's own request claims is believed. */
export interface Forwarded {
  /** The visitor's address, or the whole chain of addresses where proxies in front of us are trusted. */
  readonly for: string
  /** The scheme that the visitor uses. */
  readonly proto: 'http' | 'https'
  /** The host that the visitor asked for, with its port if it names one. */
  readonly host: string
}

/** How a request's body is delimited; `unsupported` for codings that would be lost on the way. */
export type BodyFraming = { readonly kind: 'none' | 'chunked' | 'unsupported' } | LengthFraming

interface LengthFraming {
  readonly kind: 'length'
  readonly length: string
}

const ENDS_HERE = new Set([
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
])

/** The body that came with a request. One that no header announces is not passed on, whatever bytes follow. */
export function bodyFraming(headers: IncomingHttpHeaders): BodyFraming {
  const coding = headers['transfer-encoding']
  if (coding !== undefined) return { kind: coding.trim().toLowerCase() === 'chunked' ? 'chunked' : 'unsupported' }
  const length = headers['content-length']
  return length === undefined ? { kind: 'none' } : { kind: 'length', length }
}

/** The headers of the request to the upstream. */
export function upstreamHeaders(
  req: IncomingMessage,
  target: URL,
  framing: BodyFraming,
  forwarded: Forwarded,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = Object.create(null)
  const named = namedByConnection(req)
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    if (ENDS_HERE.has(name) || name.startsWith('x-forwarded-') || named.has(name)) continue
    headers[name] = values?.length === 1 ? values[0] : values
  }
  if (framing.kind === 'chunked') headers['transfer-encoding'] = 'chunked'
  if (framing.kind === 'length') headers['content-length'] = framing.length
  headers['host'] = target.host
  headers['x-forwarded-for'] = forwarded.for
  headers['x-forwarded-proto'] = forwarded.proto
  headers['x-forwarded-host'] = forwarded.host
  headers['x-forwarded-port'] = /:(\d+)$/.exec(forwarded.host)?.[1] ?? (forwarded.proto === 'https' ? '443' : '80')
  return headers
}

/** The headers of an upstream's answer that the visitor gets, spelled and repeated as they came. */
export function answerHeaders(answer: IncomingMessage): ReadonlyMap<string, readonly string[]> {
  const named = namedByConnection(answer)
  const bodyless = answer.statusCode === 204
  const spellings = new Map<string, string>()
  const headers = new Map<string, string[]>()
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
    const spelled = answer.rawHeaders[at] ?? ''
    const name = spelled.toLowerCase()
    if (named.has(name) || (ENDS_HERE.has(name) && (name !== 'content-length' || bodyless))) continue
    const spelling = spellings.get(name) ?? spelled
    spellings.set(name, spelling)
    headers.set(spelling, [...(headers.get(spelling) ?? []), answer.rawHeaders[at + 1] ?? ''])
  }
  return headers
}

function namedByConnection(message: IncomingMessage): ReadonlySet<string> {
  const listed = message.headersDistinct['connection'] ?? []
  return new Set(listed.flatMap((value) => value.split(',')).map((name) => name.trim().toLowerCase()))
}
