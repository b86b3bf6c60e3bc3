import type { Server } from 'node:http'

/** Longer than the idle time of common load balancers (60 s), so that the balancer is the one to close. */
const KEEP_ALIVE_MS = 72_000
/** Nobody needs this long for a request's headers; slow-loris attacks do. */
const HEADERS_MS = 12_000
/** For a request with its body, an upload on a slow line among them; actions watch silence and rate themselves. */
const REQUEST_MS = 600_000
const MAX_CONNECTIONS = 10_000
const MAX_HEADERS = 200

/** The limits that only exist as options of `createServer`. */
export const SERVER_OPTIONS = {
  /** How often Node looks for connections past their time, in ms; its default of 30 s would add that to each limit. */
  connectionsCheckingInterval: 1_000,
  /** A missing `Host` is refused as a malformed one is, by the request guard. */
  requireHostHeader: false,
} as const

/** Sets every limit of the HTTP server explicitly: Node's own defaults change between versions. */
export function setServerLimits(server: Server): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.headersTimeout = HEADERS_MS
  server.requestTimeout = REQUEST_MS
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = MAX_HEADERS
}
