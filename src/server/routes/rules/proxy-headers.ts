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
])

/**
 * Names by which servers and frameworks learn from a proxy in front who asks, for what, and by which method. Only what
 * this server says in `X-Forwarded-*` is true, so the visitor's own do not cross.
 */
const CLAIMS = new Set(
  // The address.
  (
    'cf-connecting-ip cf-connecting-ipv6 cf-pseudo-ipv4 client-ip do-connecting-ip fastly-client-ip fly-client-ip ' +
    'true-client-ip x-appengine-user-ip x-azure-clientip x-azure-socketip x-client-ip x-cluster-client-ip ' +
    'x-envoy-external-address x-forward-for x-forwarded x-original-forwarded-for x-originating-ip x-real-ip ' +
    'proxy-client-ip wl-proxy-client-ip x-nf-client-connection-ip x-remote-addr x-remote-ip ' +
    // Host, scheme, URL and method.
    'front-end-https x-host x-http-host-override x-original-host x-real-host x-scheme x-url-scheme x-original-method x-original-uri ' +
    'x-original-url x-rewrite-url x-waws-unencoded-url x-http-method x-http-method-override x-method-override ' +
    // Who has signed in; whether middleware has run; the proxy of a CGI program.
    'x-authenticated-user x-client-cert x-goog-iap-jwt-assertion x-remote-user x-webauth-user ' +
    'x-middleware-subrequest proxy'
  ).split(' '),
)

/** Families of such names: of forwarding proxies, and of those that sign visitors in. */
const CLAIM_PREFIXES = [
  'cf-access-',
  'remote-',
  'tailscale-user-',
  'x-amzn-oidc-',
  'x-auth-request-',
  'x-forwarded-',
  'x-goog-authenticated-user-',
  'x-ms-client-principal',
  'x-ssl-client-',
  'x-vercel-forwarded-',
] as const

/** With an underscore a name is another one here, and the same one to what reads it as CGI does: `X_Real_IP`. */
function isClaim(name: string): boolean {
  return CLAIMS.has(name) || name.includes('_') || CLAIM_PREFIXES.some((prefix) => name.startsWith(prefix))
}

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
  for (const [name, value] of Object.entries(req.headers)) {
    if (value === undefined || ENDS_HERE.has(name) || isClaim(name) || named.has(name)) continue
    headers[name] = sentValue(value, req.headersDistinct[name])
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
 * The lines of a header as the visitor sent them, unless `req.headers` says something else: middleware may have replaced
 * the value, which `headersDistinct` never shows, and of a second `Authorization` nothing here has been judged.
 */
function sentValue(value: string | string[], lines: readonly string[] = []): string | string[] {
  const isAll = [lines.join(', '), lines.join('; ')].includes(String(value))
  return isAll && lines.length > 1 ? [...lines] : value
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
