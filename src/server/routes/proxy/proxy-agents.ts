import { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'

/** Keep-alive connections to upstreams. One set for a server; close it when the server ends. */
export interface ProxyAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  /** Ends all connections, including those in use. */
  readonly close: () => void
}

/** Shorter than the usual 5 s of servers, so that our side closes idle connections first. */
const IDLE_MS = 4_000

/** Creates a set of agents. */
export function createProxyAgents(): ProxyAgents {
  const options = { keepAlive: true, timeout: IDLE_MS }
  const http = new HttpAgent(options)
  let https: HttpsAgent | undefined
  return {
    http,
    get https() {
      return (https ??= new (loadHttps().Agent)(options))
    },
    close() {
      http.destroy()
      https?.destroy()
    },
  }
}

/** Loaded on first use: 4 MiB, and few servers have an upstream with TLS. */
export function loadHttps(): typeof import('node:https') {
  return process.getBuiltinModule('node:https')
}
