import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { forwardedHeaders } from './forwarded-headers.ts'
import { OPENER_POLICY } from './waiting-documents.ts'

const LOOPBACK = '127.0.0.1'

/** May replace an answer: `undefined` forwards it unchanged. */
export type ReplaceAnswer = (status: number, headers: IncomingMessage['headers'], body: string) => string | undefined

/** Options for forwarding a request. */
interface ForwardOptions {
  /** Of the application's server. */
  readonly port: number
  /** An additional entry for the answer's `Server-Timing`. */
  readonly timing: string
  /** Called for failed documents only, whose bodies are buffered for that. */
  readonly replace: ReplaceAnswer
}

/**
 * Forwards a request to the application's server and its answer back, chunk by chunk, with the same `Host`.
 * @throws if the server cannot be reached; nothing has been answered then.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { port, timing, replace }: ForwardOptions,
): Promise<void> {
  const answer = await ask(request, response, port)
  const status = answer.statusCode ?? 502
  if (status >= 500 && isHtml(answer)) {
    const body = await readText(answer)
    const replacement = replace(status, answer.headers, body)
    if (replacement !== undefined) {
      response
        .writeHead(status, {
          'Content-Type': 'text/html; charset=utf-8',
          'Cache-Control': 'no-store',
          'Server-Timing': timing,
          ...OPENER_POLICY,
        })
        .end(replacement)
      return
    }
    response
      .writeHead(status, answer.statusMessage, headersOf(answer, timing, ['transfer-encoding', 'content-length']))
      .end(body)
    return
  }
  response.writeHead(status, answer.statusMessage, headersOf(answer, timing, []))
  response.flushHeaders()
  await pipeline(answer, response).catch(() => undefined) // if one side disconnects, the other is closed
}

function ask(request: IncomingMessage, response: ServerResponse, port: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const upstream = httpRequest({
      host: LOOPBACK,
      port,
      method: request.method,
      path: request.url,
      headers: readableHeaders(request),
    })
    upstream.once('response', resolve)
    upstream.once('error', reject)
    response.once('close', () => upstream.destroy())
    request.pipe(upstream)
  })
}

/**
 * Removes compression, because bodies may be replaced here and stay on this machine. Also removes conditional headers:
 * a cached document would contain the number of an earlier build.
 */
function readableHeaders(request: IncomingMessage): readonly string[] {
  const isDocument = request.headers['sec-fetch-dest'] === 'document'
  const dropped = ['accept-encoding', ...(isDocument ? ['if-none-match'] : [])]
  const headers = forwardedHeaders(request)
  return headers.flatMap((name, index) =>
    index % 2 === 1 || dropped.includes(name.toLowerCase()) ? [] : [name, headers[index + 1] ?? ''],
  )
}

function isHtml({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/html') ?? false
}

async function readText(message: IncomingMessage): Promise<string> {
  message.setEncoding('utf8')
  const parts: string[] = []
  for await (const part of message) parts.push(String(part))
  return parts.join('')
}

/** Without `Strict-Transport-Security`: browsers would also apply it to other servers on `localhost`. */
function headersOf(answer: IncomingMessage, timing: string, dropped: readonly string[]): OutgoingHttpHeaders {
  const removed = new Set(['strict-transport-security', ...dropped])
  const forwarded = Object.entries(answer.headersDistinct).filter(([name]) => !removed.has(name))
  const headers = Object.fromEntries(
    forwarded.map(([name, values = []]) => [name, values.length === 1 ? values[0] : values]),
  )
  return { ...headers, 'server-timing': [...(answer.headersDistinct['server-timing'] ?? []), timing] }
}

/**
 * Joins an upgraded connection to the application's server, once that has agreed. A refused one is closed behind the
 * answer: otherwise the client's next bytes would reach the application without the gateway's checks.
 * @param socket whose errors the caller handles.
 */
export function forwardUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, port: number): void {
  if (socket.destroyed) return
  const upstream = httpRequest({
    host: LOOPBACK,
    port,
    method: request.method,
    path: request.url,
    headers: withoutBody(forwardedHeaders(request)),
    agent: false, // its connection is never used again
  })
  socket.once('close', () => upstream.destroy())
  upstream.once('error', () => socket.destroy())
  upstream.once('upgrade', (answer, joined, first) => {
    const close = (): void => {
      joined.destroy()
      socket.destroy()
    }
    joined.once('error', close).once('close', close)
    socket.once('close', close)
    socket.write(headText(answer, answer.rawHeaders))
    socket.write(first)
    joined.write(head)
    joined.pipe(socket).pipe(joined)
  })
  upstream.once('response', (answer) => {
    const headers = pairsOf(answer.rawHeaders).filter(([name]) => !OF_CONNECTION.has(name.toLowerCase()))
    socket.write(headText(answer, [...headers.flat(), 'Connection', 'close']))
    pipeline(answer, socket).catch(() => undefined)
  })
  upstream.end()
}

const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** The request of a handshake has no body: the bytes behind its head belong to the other protocol. */
function withoutBody(headers: readonly string[]): readonly string[] {
  return pairsOf(headers)
    .filter(([name]) => !['content-length', 'transfer-encoding'].includes(name.toLowerCase()))
    .flat()
}

function headText({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): string {
  const lines = pairsOf(headers).map((pair) => `${pair.join(': ')}\r\n`)
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`
}

/** @param headers names and values in turn. */
function pairsOf(headers: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : []))
}
