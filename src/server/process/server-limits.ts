import type { Server } from 'node:http'

const KEEP_ALIVE_MS = 72_000 // longer than common load balancers (60 s), so that the balancer closes first
const HEADERS_MS = 12_000 // only slow-loris attacks take longer
const REQUEST_MS = 600_000 // allows uploads on a slow line; bodies of actions have their own limits
/** Open connections of a server. */
const MAX_CONNECTIONS = 10_000
const MAX_HEADERS = 200

/**
 * Connections that the system holds until they are accepted; it has its own limit, often 4,096 (`net.core.somaxconn`). Those
 * beyond it are dropped, and their visitors try again after one second, then three.
 */
export const BACKLOG = 4_096

/** Limits that exist only as options of `createServer`. */
export const SERVER_OPTIONS = {
  /** How often Node looks for connections past their limit, in ms; its default of 30 s would add that to each limit. */
  connectionsCheckingInterval: 1_000,
  /** The request guard refuses a missing `Host`. */
  requireHostHeader: false,
} as const

/**
 * Limits the connections of a server. A worker gives further ones back to the primary by default, which hands them to
 * the next worker, for as long as all are full: that takes all processors, and the connections stay open.
 */
export function limitNumberOfConnections(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS
  Object.assign(server, { dropMaxConnection: true }) // missing from the types
}

/** Sets every limit of the HTTP server explicitly: Node's own defaults change between versions. */
export function setServerLimits(server: Server): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.headersTimeout = HEADERS_MS
  server.requestTimeout = REQUEST_MS
  limitNumberOfConnections(server)
  server.maxHeadersCount = MAX_HEADERS
}
