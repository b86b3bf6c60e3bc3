import { STATUS_CODES } from 'node:http'
import { pipeline } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dropTargetedCaching, mayBeShared } from '../../http/cache-control.ts'
import { addVary, leaveUncompressed, mayGetCookie } from '../../request/answer/answer-headers.ts'
import { NO_STORE, ONE_VISITOR } from '../../request/answer/caching.ts'
import { keepLateCookiesPrivate } from '../../request/answer/late-cookies.ts'
import { headFault } from '../../request/answer/send.ts'
import { addSecurityHeaders } from '../../request/answer/security-headers.ts'
import type { ProxyFailure } from './proxy-options.ts'
import { answerHeaders, type Forwarded } from './proxy-headers.ts'

/** Answers for an upstream that did not. As text, because the application's pages do not concern this URL. */
export function sendFailure(
  req: IncomingMessage,
  res: ServerResponse,
  status: ProxyFailure['status'],
  { proto }: Pick<Forwarded, 'proto'>,
): void {
  const text = `${STATUS_CODES[status]}\n`
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(Buffer.byteLength(text))]
  headers.push('Cache-Control', 'no-store')
  dropTargetedCaching(res)
  for (let index = 0; index < headers.length; index += 2) res.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  addSecurityHeaders(res, proto === 'https')
  res.writeHead(status)
  res.end(text)
  // Read the rest of the visitor's request, or a reset may lose the answer.
  req.resume()
}

/** How the answer of an upstream may end. */
interface AnswerEnd {
  /** All of it is sent. */
  done(): void
  /**
   * The upstream has disconnected in the middle. The caller then ends the visitor's connection with `breakOff`, so that
   * nobody takes the answer for complete.
   */
  cutOff(cause: Error): void
}

/**
 * Forwards an upstream's answer as it arrives, at the visitor's pace, with the runtime's own headers unless the
 * upstream sets them.
 * @returns whether the headers could be forwarded; if not, nothing was sent and no callback will be called.
 */
export function relayAnswer(
  answer: IncomingMessage,
  res: ServerResponse<IncomingMessage>,
  { proto }: Pick<Forwarded, 'proto'>,
  { done, cutOff }: AnswerEnd,
): boolean {
  const coding = answer.headers['transfer-encoding']
  // Codings other than chunked would reach the visitor undeclared.
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') return false
  const headers = answerHeaders(answer)
  const hadCookie = res.hasHeader('set-cookie') || mayGetCookie(res.req)
  const isFailure = (answer.statusCode ?? 0) >= 400
  // As in `send`: a rule means pages, not failures, nor what the upstream calls private. Without a word about caching, caches
  // may store some failures (RFC 9110, section 15.1).
  if (isFailure && answer.headers.expires === undefined) res.setHeader('Cache-Control', NO_STORE.value)
  else if (isFailure) res.removeHeader('cache-control')
  if (isFailure || !mayBeShared(answer.headers['cache-control'] ?? '')) dropTargetedCaching(res)
  try {
    for (const [name, values] of headers) {
      if (name.toLowerCase() === 'set-cookie') res.appendHeader(name, values)
      else if (name.toLowerCase() === 'vary') addVary(res, values.join(', '))
      else res.setHeader(name, values.length === 1 ? (values[0] ?? '') : values)
    }
    const isForeign = hasForeignCookie(answer, res, hadCookie)
    if (isForeign) dropTargetedCaching(res)
    if (isForeign && isStored(res, hadCookie)) res.setHeader('Cache-Control', ONE_VISITOR.value)
    addSecurityHeaders(res, proto === 'https')
    leaveUncompressed(res)
    keepLateCookiesPrivate(res)
    if (headFault({ givenHeaders: undefined, res }) !== undefined) return false
    res.writeHead(answer.statusCode ?? 0)
  } catch {
    for (const name of headers.keys()) res.removeHeader(name)
    return false
  }
  answer.once('error', cutOff)
  pipeline(answer, res, (error) => {
    if (!error) done()
  })
  return true
}

/**
 * Whether an answer sets a cookie that the author of its `Cache-Control` did not know about: middleware sets a cookie
 * on an answer that the upstream calls public, or the upstream sets one where a rule says public. Shared caches would
 * give one visitor's cookie to others.
 * @param hadCookie whether middleware or a rule has set a cookie.
 */
function hasForeignCookie({ headers }: IncomingMessage, res: ServerResponse, hadCookie: boolean): boolean {
  return hadCookie || (headers['cache-control'] === undefined && res.hasHeader('set-cookie'))
}

/** Without `Cache-Control`, caches may store an answer for a time of their choice. */
function isStored(res: ServerResponse, hadCookie: boolean): boolean {
  const value = res.getHeader('cache-control')
  return value === undefined ? hadCookie : mayBeShared(String(value))
}

/**
 * Ends a connection in the middle of an answer. A body that is delimited by its end looks complete unless the
 * connection is reset.
 */
export function breakOff(req: IncomingMessage, res: ServerResponse): void {
  if (!res.chunkedEncoding && !res.hasHeader('content-length')) req.socket.resetAndDestroy()
  res.destroy()
}
