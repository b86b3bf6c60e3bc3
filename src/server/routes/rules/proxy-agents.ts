import { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'

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

/** Loaded when it is asked for: 4 MiB of each server, few of which have an upstream that speaks TLS. */
export function loadHttps(): typeof import('node:https') {
  return process.getBuiltinModule('node:https')
}
