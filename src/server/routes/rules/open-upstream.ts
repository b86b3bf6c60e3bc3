import { request as httpRequest } from 'node:http'
import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { loadHttps, type ProxyAgents } from './proxy-agents.ts'

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  /** Connections to take one from; a new connection for this request alone without. */
  readonly agents?: ProxyAgents | undefined
}

/** Opens a request; the caller sends the body and ends it. */
export function openUpstream(target: URL, { method, headers, agents }: UpstreamRequest): ClientRequest {
  const url = new URL(target)
  // A URL's credentials would become an Authorization header, in place of the visitor's.
  url.username = ''
  url.password = ''
  return url.protocol === 'https:'
    ? loadHttps().request(url, { method, headers, agent: agents?.https ?? false })
    : httpRequest(url, { method, headers, agent: agents?.http ?? false })
}
