import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'

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
  connectionsCheckingInterval: 5_000,
} as const

/** Sets every limit of the HTTP server explicitly: Node's own defaults change between versions. */
export function setServerLimits(server: Server): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.headersTimeout = HEADERS_MS
  server.requestTimeout = REQUEST_MS
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = MAX_HEADERS
}

const STATUS_BY_CODE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Answers what Node's parser refuses, and closes: on a malformed connection nothing that follows can be trusted. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  )
}
