import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The answer to the latest request of a connection, for who must know whether something was said there. */
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
 * Takes over what Node's HTTP server does by itself where a request is not in order: bytes that are no request, an
 * `Expect` that nobody understands, and a body that waits to be asked for.
 */
export function guardConnections(server: Server): void {
  server.on('request', remember)
  server.on('clientError', answerClientError)
  server.on('checkExpectation', refuseExpectation)
  server.on('checkContinue', (req, res) => {
    askForBodyWhenRead(req, res)
    server.emit('request', req, res)
  })
}

function remember({ socket }: IncomingMessage, res: ServerResponse): void {
  ;(socket as TrackedConnection)[LATEST] = res
}

/** Answers what Node's parser refuses, and closes: on a malformed connection nothing that follows can be trusted. */
function answerClientError(error: Error & { code?: string }, socket: Duplex & TrackedConnection): void {
  const latest = socket[LATEST]
  if (!socket.writable || error.code === 'ECONNRESET' || (latest !== undefined && isAnswering(latest))) {
    socket.destroy()
    return
  }
  const close = (): void => void socket.destroy()
  // The answer to this request is out already; a second one would be taken for that to the next.
  if (latest?.writableFinished === true && !(latest.req.complete && latest.shouldKeepAlive)) {
    socket.end(close)
    return
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n`, close)
}

/** Whether a part of an answer is on the wire and the rest is not, or may be: an answer without a socket waits for another. */
function isAnswering({ writableFinished, socket, headersSent }: ServerResponse): boolean {
  return !writableFinished && (socket === null || headersSent)
}

/** Answers an `Expect` that is not `100-continue`, and closes: whether a body follows, nobody knows. */
function refuseExpectation(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(417, { Connection: 'close', 'Cache-Control': 'no-store', 'Content-Length': '0' }).end()
}

/**
 * Says `100 Continue` when somebody begins to read the body, by whichever of a stream's ways: all of them end in `_read`.
 * What is refused unread is not sent in the first place.
 */
function askForBodyWhenRead(req: IncomingMessage, res: ServerResponse): void {
  const read: (size: number) => void = Reflect.get(req, '_read')
  Reflect.set(req, '_read', (size: number) => {
    Reflect.deleteProperty(req, '_read')
    if (!res.headersSent) res.writeContinue()
    read.call(req, size)
  })
}
