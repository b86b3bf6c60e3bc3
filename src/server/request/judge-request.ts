import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { resolveProvenance, type Provenance } from './trusted-proxy.ts'
import { isValidHost, judgeTarget, splitAbsoluteTarget, type TargetVerdict } from './url-guard.ts'

/** What is known of a request before anything is done with it. */
export interface JudgedRequest {
  readonly target: TargetVerdict
  readonly provenance: Provenance
  /** Set when the request must not go on, whatever its target. */
  readonly refusal?: Refusal
}

/** A 4xx or 5xx and its reason, as text for the client and the log. */
export interface Refusal {
  readonly status: number
  readonly reason: string
}

/** Judges version, Host, target and origin of a request; the same for documents and for upgrades. */
export type RequestJudge = (req: IncomingMessage) => JudgedRequest

/** Makes the judge for a configuration. */
export function createRequestJudge({ origins, trustProxy }: Pick<Config, 'origins' | 'trustProxy'>): RequestJudge {
  const publicUrls = origins.map((origin) => new URL(origin))
  const hosts = new Set(publicUrls.map(({ host }) => host))

  return (req) => {
    const url = req.url ?? ''
    const absolute = splitAbsoluteTarget(url)
    const { headers, socket } = req
    const host = absolute?.host ?? headers.host ?? ''
    const provenance = resolveProvenance(
      { address: socket.remoteAddress, encrypted: 'encrypted' in socket && socket.encrypted === true, host },
      {
        for: first(headers['x-forwarded-for']),
        protocol: first(headers['x-forwarded-proto']),
        host: first(headers['x-forwarded-host']),
      },
      trustProxy,
      isValidHost,
    )
    const target = judgeTarget(absolute?.target ?? url)
    const refusal = refuse(req, host, absolute?.host, hosts, provenance.host)
    if (refusal !== undefined) return { target, provenance, refusal }
    const origin = originOf(provenance, publicUrls)
    if (origin === undefined) return { target, provenance }
    const denied = first(headers['x-forwarded-proto']) === 'http' && trustProxy(socket.remoteAddress)
    const secure = origin.startsWith('https:') && !denied
    return { target, provenance: { ...provenance, origin, ...(secure ? { secure } : {}) } }
  }
}

/** The host has been judged; the scheme is the configured one, whatever a proxy says or leaves out. */
function originOf({ host, protocol }: Provenance, publicUrls: readonly URL[]): string | undefined {
  if (publicUrls.length === 0) return undefined
  const ours = publicUrls.filter((url) => url.host === host.toLowerCase())
  return (ours.find((url) => url.protocol === `${protocol}:`) ?? ours[0])?.origin
}

function refuse(
  req: IncomingMessage,
  host: string,
  absoluteHost: string | undefined,
  hosts: ReadonlySet<string>,
  publicHost: string,
): Refusal | undefined {
  if (req.httpVersionMajor !== 1) return { status: 505, reason: 'HTTP version not supported' }
  if (host === '' && req.httpVersionMinor === 0 && hosts.size === 0) return undefined
  if (!isValidHost(host)) return { status: 400, reason: 'malformed Host' }
  if (countHosts(req.rawHeaders) > 1) return { status: 400, reason: 'more than one Host' }
  if (absoluteHost !== undefined && absoluteHost.toLowerCase() !== req.headers.host?.toLowerCase()) {
    return { status: 400, reason: 'the request target names another host' }
  }
  if (hosts.size > 0 && !hosts.has(publicHost.toLowerCase()) && !isProbe(req.url)) {
    return { status: 400, reason: 'Host is none of ORIGIN' }
  }
  return undefined
}

/** Orchestrators ask by address, not by public name. */
function isProbe(url: string | undefined): boolean {
  return url === '/healthz' || url === '/readyz'
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

/** A header that counts once, however often it was sent. */
export function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
