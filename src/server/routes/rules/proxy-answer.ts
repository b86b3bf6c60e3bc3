import { STATUS_CODES } from 'node:http'
import { pipeline } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mayBeShared } from '../../http/cache-control.ts'
import { addVary } from '../../request/answer/answer-headers.ts'
import { ONE_VISITOR } from '../../request/answer/caching.ts'
import { securityHeaders } from '../../request/answer/security-headers.ts'
import type { ProxyFailure } from './proxy-options.ts'
import { answerHeaders, type Forwarded } from './proxy-headers.ts'

/** Answers for an upstream that did not. Text, because the pages of the application are not about this URL. */
export function sendFailure(
  req: IncomingMessage,
  res: ServerResponse,
  status: ProxyFailure['status'],
  { proto }: Pick<Forwarded, 'proto'>,
): void {
  const text = `${STATUS_CODES[status]}\n`
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(Buffer.byteLength(text))]
  headers.push('Cache-Control', 'no-store', ...securityHeaders(proto === 'https'))
  for (let index = 0; index < headers.length; index += 2) res.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  res.writeHead(status)
  res.end(text)
  // What the visitor is still sending must be read, or the answer may be lost to a reset.
  req.resume()
}

/** How the answer of an upstream may end. */
export interface AnswerEnd {
  /** All of it is out. */
  done(): void
  /**
   * The upstream has ended in the middle. The caller then ends the visitor's connection with `breakOff`, so that nobody
   * takes the answer for a whole one.
   */
  cutOff(cause: Error): void
}

/**
 * Passes an upstream's answer on as it comes, as fast as the visitor reads it.
 * What the runtime sends with every answer goes along where the upstream says nothing of it.
 * @returns whether the answer's head could be passed on; if not, nothing was sent and nothing will be called.
 */
export function relayAnswer(
  answer: IncomingMessage,
  res: ServerResponse,
  { proto }: Pick<Forwarded, 'proto'>,
  { done, cutOff }: AnswerEnd,
): boolean {
  const coding = answer.headers['transfer-encoding']
  // What another coding than chunked has wrapped would reach the visitor wrapped and undeclared.
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') return false
  const headers = answerHeaders(answer)
  const hadCookie = res.hasHeader('set-cookie')
  try {
    for (const [name, values] of headers) {
      if (name.toLowerCase() === 'set-cookie') res.appendHeader(name, values)
      else if (name.toLowerCase() === 'vary') addVary(res, values.join(', '))
      else res.setHeader(name, values.length === 1 ? (values[0] ?? '') : values)
    }
    if (isMixed(answer, res, hadCookie)) res.setHeader('Cache-Control', ONE_VISITOR.value)
    const own = securityHeaders(proto === 'https')
    for (let index = 0; index < own.length; index += 2) {
      if (!res.hasHeader(own[index] ?? '')) res.setHeader(own[index] ?? '', own[index + 1] ?? '')
    }
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
 * Whether an answer sets a cookie that the author of its `Cache-Control` did not know of: middleware sets a cookie on an
 * answer that the upstream calls public, or the upstream sets one where a rule says public. Shared caches would give one
 * visitor's cookie to others.
 * @param hadCookie whether middleware or a rule has set a cookie.
 */
function isMixed({ headers }: IncomingMessage, res: ServerResponse, hadCookie: boolean): boolean {
  const isForeign = headers['cache-control'] === undefined ? res.hasHeader('set-cookie') : hadCookie
  const value = res.getHeader('cache-control')
  // Without a word on it an answer may be kept as well, for a time that the cache guesses.
  return isForeign && (value === undefined ? hadCookie : mayBeShared(String(value)))
}

/** Ends a connection in the middle of an answer. One that only its end delimits looks whole unless that is a reset. */
export function breakOff(req: IncomingMessage, res: ServerResponse): void {
  if (!res.chunkedEncoding && !res.hasHeader('content-length')) req.socket.resetAndDestroy()
  res.destroy()
}
