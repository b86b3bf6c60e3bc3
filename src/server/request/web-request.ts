import { Readable } from 'node:stream'
import type { RequestContext } from './context.ts'

/** Methods whose requests carry no body in the web platform's eyes. */
const BODILESS = new Set(['GET', 'HEAD'])

/**
 * The request as the web platform has it. The URL is built from the judged parts, never parsed from the raw target:
 * a target such as `//other.example` would change its host.
 */
export function toWebRequest(context: RequestContext): Request {
  const { req, provenance, pathname, search } = context
  // Loaders of a page meet the request for that page, whichever action has been called there; its body is read.
  const isCall = context.action !== undefined
  const headers = new Headers()
  const raw = req.rawHeaders
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    // HTTP/2 style pseudo headers cannot stand in Headers.
    if (!name.startsWith(':') && !(isCall && /^content-/i.test(name))) headers.append(name, raw[index + 1] ?? '')
  }
  const method = isCall ? 'GET' : (req.method ?? 'GET')
  const init: RequestInit = { method, headers, signal: context.signal }
  if (!BODILESS.has(method)) {
    // `duplex` is missing from the DOM's types; a streamed body is refused without it.
    Object.assign(init, { body: Readable.toWeb(req), duplex: 'half' })
  }
  const origin = provenance.origin ?? `${provenance.protocol}://${provenance.host || 'localhost'}`
  return new Request(origin + pathname + search, init)
}
