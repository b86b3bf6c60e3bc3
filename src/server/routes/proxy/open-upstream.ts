import { request as httpRequest } from 'node:http'
import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { loadHttps, type ProxyAgents } from './proxy-agents.ts'

/** A request to an upstream. */
interface UpstreamRequest {
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  /** Pools to take a connection from; without them, the request gets a new connection. */
  readonly agents?: ProxyAgents | undefined
}

/** Opens a request; the caller sends the body and ends it. */
export function openUpstream(target: URL, { method, headers, agents }: UpstreamRequest): ClientRequest {
  const url = new URL(target)
  // Credentials in a URL would replace the visitor's Authorization header.
  url.username = ''
  url.password = ''
  return url.protocol === 'https:'
    ? loadHttps().request(url, { method, headers, agent: agents?.https ?? false })
    : httpRequest(url, { method, headers, agent: agents?.http ?? false })
}
