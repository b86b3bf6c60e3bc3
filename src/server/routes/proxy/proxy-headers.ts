/**
 * Which headers cross a proxy. Hop-by-hop fields (RFC 9110, section 7.6.1) never do, nor those that a client's or
 * upstream's `Connection` names; the length of a body is declared again for each side.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'

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

/**
 * Headers by which a proxy tells servers and frameworks about client, target and method. Only this server's
 * `X-Forwarded-*` is true, so the visitor's own are dropped.
 */
const CLAIMS = new Set(
  // Client address.
  (
    'cf-connecting-ip cf-connecting-ipv6 cf-pseudo-ipv4 client-ip do-connecting-ip fastly-client-ip fly-client-ip ' +
    'true-client-ip x-appengine-user-ip x-azure-clientip x-azure-socketip x-client-ip x-cluster-client-ip ' +
    'x-envoy-external-address x-forward-for x-forwarded x-original-forwarded-for x-originating-ip x-real-ip ' +
    'proxy-client-ip wl-proxy-client-ip x-nf-client-connection-ip x-remote-addr x-remote-ip ' +
    // Host, scheme, URL and method.
    'front-end-https x-host x-http-host-override x-original-host x-real-host x-scheme x-url-scheme x-original-method x-original-uri ' +
    'x-original-url x-rewrite-url x-waws-unencoded-url x-http-method x-http-method-override x-method-override ' +
    // Signed-in user; whether middleware has run; the proxy of a CGI program.
    'x-authenticated-user x-client-cert x-goog-iap-jwt-assertion x-remote-user x-webauth-user ' +
    'x-middleware-subrequest proxy'
  ).split(' '),
)

/** Prefixes of such names: of forwarding proxies, and of those that sign visitors in. */
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

/** A name with an underscore is a different header here, but the same one to CGI: `X_Real_IP`. */
function isClaim(name: string): boolean {
  return CLAIMS.has(name) || name.includes('_') || CLAIM_PREFIXES.some((prefix) => name.startsWith(prefix))
}

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
 * The lines of a header as the visitor sent them, unless `req.headers` differs: middleware may have replaced the value,
 * which `headersDistinct` never shows, and a second `Authorization` has not been checked here.
 */
function sentValue(value: string | string[], lines: readonly string[] = []): string | string[] {
  const isAll = [lines.join(', '), lines.join('; ')].includes(String(value))
  return isAll && lines.length > 1 ? [...lines] : value
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
