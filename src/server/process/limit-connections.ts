import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { joinSmallChunks } from '../http/body/join-small-chunks.ts'
import { noteRequest } from '../http/parsed-work.ts'

/** The answer to the latest request of a connection. */
const LATEST = Symbol('millrace.latest-answer')

interface TrackedConnection {
  [LATEST]?: ServerResponse
}

const STATUS_BY_CODE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Replaces Node's own handling of malformed requests, of an unknown `Expect`, and of `Expect: 100-continue`; what a host
 * has replaced already stays the host's.
 */
export function limitConnections(server: Server): void {
  server.on('request', remember)
  if (server.listenerCount('clientError') === 0) server.on('clientError', answerClientError)
  if (server.listenerCount('checkExpectation') === 0) server.on('checkExpectation', refuseExpectation)
  if (server.listenerCount('checkContinue') > 0) return
  server.on('checkContinue', (req, res) => {
    // Node takes any value that holds the word. A proxy may take another expectation for none, and send the body at once.
    if (req.headers.expect?.toLowerCase() !== '100-continue') return refuseExpectation(req, res)
    askForBodyWhenRead(req, res)
    server.emit('request', req, res)
  })
}

function remember(req: IncomingMessage, res: ServerResponse): void {
  ;(req.socket as TrackedConnection)[LATEST] = res
  noteRequest(req.socket, res)
  // Before a host's own middleware.
  joinSmallChunks(req)
}

/**
 * Answers requests that Node's parser refuses, and closes: after malformed bytes nothing on the connection can be
 * trusted.
 */
function answerClientError(error: Error & { code?: string }, socket: Duplex & TrackedConnection): void {
  const latest = socket[LATEST]
  if (!socket.writable || error.code === 'ECONNRESET' || (latest !== undefined && isAnswering(latest))) {
    socket.destroy()
    return
  }
  const close = (): void => void socket.destroy()
  // This request was answered already: the client would take a second answer for the one to its next request.
  if (latest?.writableFinished === true && !(latest.req.complete && latest.shouldKeepAlive)) {
    socket.end(close)
    return
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n`, close)
}

/** Whether an answer may be partly sent. An answer without a socket is still queued behind another one. */
function isAnswering({ writableFinished, socket, headersSent }: ServerResponse): boolean {
  return !writableFinished && (socket === null || headersSent)
}

/** Answers an `Expect` that is not `100-continue`, and closes: a body may or may not follow. */
function refuseExpectation({ socket }: IncomingMessage, res: ServerResponse): void {
  noteRequest(socket, res)
  res.writeHead(417, { Connection: 'close', 'Cache-Control': 'no-store', 'Content-Length': '0' }).end()
}

/**
 * Sends `100 Continue` when the body is first read: every way of reading a stream calls `_read`. A client whose request is
 * refused before that never sends its body.
 */
function askForBodyWhenRead(req: IncomingMessage, res: ServerResponse): void {
  const read: (size: number) => void = Reflect.get(req, '_read')
  Reflect.set(req, '_read', (size: number) => {
    Reflect.deleteProperty(req, '_read')
    if (!res.headersSent) res.writeContinue()
    read.call(req, size)
  })
}
