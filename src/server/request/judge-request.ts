import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/config.ts'
import { createPublicOrigins } from '../http/public-origins.ts'
import { resolveClientAddress, type ClientAddress } from '../http/trusted-proxy.ts'
import { isValidHost, judgeTarget, splitAbsoluteTarget, type JudgedTarget } from '../http/request-target.ts'

/** Result of judging a request. */
interface JudgedRequest {
  readonly target: JudgedTarget
  readonly clientAddress: ClientAddress
  /** Set if the request is refused, whatever its target. */
  readonly refusal?: Refusal
}

/** A 4xx or 5xx and its reason, as text for the client and the log. */
export interface Refusal {
  readonly status: number
  readonly reason: string
}

/** Judges version, Host, target and origin of a request; the same for documents and upgrades. */
export type RequestJudge = (req: IncomingMessage) => JudgedRequest

/** Creates the judge for a configuration. */
export function createRequestJudge({ origins, trustProxy }: Pick<Config, 'origins' | 'trustProxy'>): RequestJudge {
  const ours = createPublicOrigins(origins)
  let lastHost = '' // almost every request has the same host as the previous one
  const hosts: HostRules = {
    required: ours.configured,
    isValid(host) {
      if (host !== '' && host === lastHost) return true
      if (!isValidHost(host)) return false
      lastHost = host
      return true
    },
  }

  return (req) => {
    const url = req.url ?? ''
    const absolute = splitAbsoluteTarget(url)
    const { headers, socket } = req
    const host = absolute?.host ?? headers.host ?? ''
    const clientAddress = resolveClientAddress(
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
    const origin = ours.originOf(clientAddress)
    let refusal = refuse(req, host, absolute?.host, hosts)
    if (origin === undefined && ours.configured && !isProbe(req.url)) refusal ??= FOREIGN_HOST
    if (refusal !== undefined) return { target, clientAddress, refusal }
    if (origin === undefined) return { target, clientAddress }
    const denied = first(headers['x-forwarded-proto']) === 'http' && trustProxy(socket.remoteAddress)
    const secure = origin.startsWith('https:') && !denied
    return { target, clientAddress: { ...clientAddress, origin, ...(secure ? { secure } : {}) } }
  }
}

interface HostRules {
  /** Whether HTTP/1.0 requires a `Host` too. */
  readonly required: boolean
  isValid(host: string): boolean
}

const FOREIGN_HOST: Refusal = { status: 400, reason: 'Host is not in ORIGIN' }

function refuse(
  req: IncomingMessage,
  host: string,
  absoluteHost: string | undefined,
  hosts: HostRules,
): Refusal | undefined {
  if (req.httpVersionMajor !== 1) return { status: 505, reason: 'HTTP version not supported' }
  // Load balancers often check health over HTTP/1.0, which needs no Host.
  if (host === '' && req.httpVersionMinor === 0 && (!hosts.required || isProbe(req.url))) return undefined
  if (!hosts.isValid(host)) return { status: 400, reason: 'malformed Host' }
  if (countHosts(req.rawHeaders) > 1) return { status: 400, reason: 'more than one Host' }
  if (absoluteHost !== undefined && absoluteHost.toLowerCase() !== req.headers.host?.toLowerCase()) {
    return { status: 400, reason: 'the request target names another host' }
  }
  return undefined
}

/** Orchestrators use the address, not the public name. */
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

/** The first value of a header that may be repeated. */
export function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
