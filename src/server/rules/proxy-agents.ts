import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'

/** Connections to upstreams that are kept for the next request. One set for a server; close it when the server ends. */
export interface ProxyAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  /** Ends all connections, those in use too. */
  readonly close: () => void
}

/** Shorter than the 5 s after which servers commonly end an idle connection, so that ours ends first. */
const IDLE_MS = 4_000

/** Makes a set of agents. */
export function createProxyAgents(): ProxyAgents {
  const options = { keepAlive: true, timeout: IDLE_MS }
  const http = new HttpAgent(options)
  const https = new HttpsAgent(options)
  return {
    http,
    https,
    close() {
      http.destroy()
      https.destroy()
    },
  }
}
