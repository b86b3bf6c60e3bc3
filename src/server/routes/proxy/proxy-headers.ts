/**
 * Which headers cross a proxy. Hop-by-hop fields (RFC 9110, section 7.6.1) never do, nor those that a client's or
 * upstream's `Connection` names; the length of a body is declared again for each side.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { isProxyClaim } from './proxy-claims.ts'

/** Facts about the visitor for the upstream. Claims in the visitor's own request are ignored. */
export interface Forwarded {
  /** The visitor's address, or the whole chain of addresses if proxies in front of us are trusted. */
  readonly for: string
  /** The visitor's scheme. */
  readonly proto: 'http' | 'https'
  /** The host that the visitor requested, with its port if given. */
  readonly host: string
}

/** How a request's body is delimited; `unsupported` for codings that forwarding would lose. */
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
])

/** The body of a request. Bytes that no header announces are not forwarded. */
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
  for (const [name, value] of Object.entries(req.headers)) {
    if (value === undefined || ENDS_HERE.has(name)) continue
    const lines = req.headersDistinct[name]
    // Middleware may say who has signed in. What it has set is not the visitor's to say, or to take away.
    if ((isProxyClaim(name) || named.has(name)) && isSent(value, lines)) continue
    headers[name] = sentValue(value, lines)
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

/**
 * The lines of a header as the visitor sent them, unless `req.headers` differs: middleware may have replaced the value,
 * which `headersDistinct` never shows, and a second `Authorization` has not been checked here.
 */
function sentValue(value: string | string[], lines: readonly string[] = []): string | string[] {
  const isAll = [lines.join(', '), lines.join('; ')].includes(String(value))
  return isAll && lines.length > 1 ? [...lines] : value
}

/** Whether a header is as the visitor sent it, of which Node may have kept the first line only. */
function isSent(value: string | string[], lines: readonly string[] = []): boolean {
  return lines.length > 0 && [lines.join(', '), lines.join('; '), ...lines].includes(String(value))
}

/** The headers of an upstream's answer for the visitor, with spelling and repetitions unchanged. */
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
