import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/config.ts'
import { createPublicOrigins } from '../http/public-origins.ts'
import { resolveProvenance, type Provenance } from '../http/trusted-proxy.ts'
import { isValidHost, judgeTarget, splitAbsoluteTarget, type TargetVerdict } from '../http/url-guard.ts'

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
  const ours = createPublicOrigins(origins)
  /** Hardly anybody asks for another host than the one before. */
  let lastHost = ''
  const isHost = (host: string): boolean => {
    if (host !== '' && host === lastHost) return true
    if (!isValidHost(host)) return false
    lastHost = host
    return true
  }

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
    const origin = ours.originOf(provenance)
    const isForeign = ours.configured && origin === undefined
    const refusal = refuse(req, host, isHost, absolute?.host, ours.configured, isForeign)
    if (refusal !== undefined) return { target, provenance, refusal }
    if (origin === undefined) return { target, provenance }
    const denied = first(headers['x-forwarded-proto']) === 'http' && trustProxy(socket.remoteAddress)
    const secure = origin.startsWith('https:') && !denied
    return { target, provenance: { ...provenance, origin, ...(secure ? { secure } : {}) } }
  }
}

function refuse(
  req: IncomingMessage,
  host: string,
  isHost: (host: string) => boolean,
  absoluteHost: string | undefined,
  needsHost: boolean,
  isForeign: boolean,
): Refusal | undefined {
  if (req.httpVersionMajor !== 1) return { status: 505, reason: 'HTTP version not supported' }
  // Balancers commonly ask for health by HTTP/1.0, which needs no Host.
  if (host === '' && req.httpVersionMinor === 0 && (!needsHost || isProbe(req.url))) return undefined
  if (!isHost(host)) return { status: 400, reason: 'malformed Host' }
  if (countHosts(req.rawHeaders) > 1) return { status: 400, reason: 'more than one Host' }
  if (absoluteHost !== undefined && absoluteHost.toLowerCase() !== req.headers.host?.toLowerCase()) {
    return { status: 400, reason: 'the request target names another host' }
  }
  if (isForeign && !isProbe(req.url)) {
    return { status: 400, reason: 'Host is none of ORIGIN' }
  }
  return undefined
}

/** Orchestrators ask by address, not by public name. */
function isProbe(url: string | undefined): boolean {
  return url !== undefined && /^\/(?:healthz|readyz)(?:\?|$)/.test(url)
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
