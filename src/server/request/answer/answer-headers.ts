import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestContext } from '../context.ts'
import { mayBeShared } from '../../http/cache-control.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { joinVary, namesHeader } from '../../http/vary.ts'

/**
 * What the answer depends on, beyond its URL: always the encoding, what a loader declares, and the headers that were read.
 * @param caching its `Cache-Control`.
 */
export function varyOf(context: RequestContext, caching: string): string {
  const given = context.givenHeaders?.get('vary') ?? ''
  return joinVary('Accept-Encoding', ...unnamedReads(context, caching, given), given)
}

/**
 * The headers that were read and that `vary` does not name, if a cache would give an answer that was made without one to
 * somebody who sends it, or the reverse. Cookies are read by looking for a session, too.
 */
export function unnamedReads({ audience }: RequestContext, caching: string, vary: string): readonly string[] {
  const { hasLookedForSession, hasOwnCookie, headers } = audience
  const byCookie = hasLookedForSession || hasOwnCookie !== undefined
  if ((!byCookie && headers === undefined) || (!mayBeShared(caching) && /\bno-(?:cache|store)\b/i.test(caching)))
    return []
  const names = [...(byCookie ? ['Cookie'] : []), ...(headers?.keys() ?? [])]
  return names.filter((name) => !namesHeader(vary, name.toLowerCase()))
}

/** Adds header names to `Vary`. */
export function addVary(res: ServerResponse, names: string): void {
  const all = joinVary(...[res.getHeader('vary') ?? ''].flat().map(String), names)
  if (all !== '') res.setHeader('Vary', all)
}

/** Whether a loader, middleware or a rule sets a cookie: then the answer belongs to one visitor. */
export function setsCookie({ givenHeaders, req, res }: RequestContext): boolean {
  return givenHeaders?.has('set-cookie') === true || res.hasHeader('set-cookie') || mayGetCookie(req)
}

/** Whether middleware in front keeps a session: it sets its cookie when the headers are written, so after this is asked. */
export function mayGetCookie(req: IncomingMessage): boolean {
  return 'session' in req
}

/**
 * Keeps a compressor in front, such as `compression()`, from this answer: it would hold back what is streamed, and what
 * is worth compressing already is.
 */
export function leaveUncompressed(res: ServerResponse<IncomingMessage>): void {
  // It reads this when the headers are written.
  if (Object.hasOwn(res, 'write')) res.req.headers['accept-encoding'] = 'identity'
}

/**
 * How a kept page was answered, for tools of the browser, which see this header in their measurements.
 * @param cache as in `RequestRecord`.
 */
export function cacheTiming(cache: string): string {
  return `cache;desc="${quotable(cache)}"`
}

function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, '')
}

/**
 * One entry per loader, one for a render that was thrown away, then the time to the first byte. Metric names are tokens,
 * so segments are named in the description. The record keeps the times for metrics.
 * @param last name of the time to the first byte: `shell` for a document, `head` for route data.
 */
export function serverTiming(last: 'shell' | 'head', { record }: RequestContext): string {
  const headMs = performance.now() - record.startedAt
  let loadersMs = 0
  let text = record.cache === undefined ? '' : `${cacheTiming(record.cache)}, `
  for (const { name, startedAt, endedAt = startedAt } of record.loaders) {
    const milliseconds = endedAt - startedAt
    loadersMs = Math.max(loadersMs, milliseconds)
    text += `loader;desc="${quotable(name)}";dur=${milliseconds.toFixed(1)}, `
  }
  record.timing = { loadersMs, headMs }
  if (record.discardedMs > 0) text += `discarded;dur=${record.discardedMs.toFixed(1)}, `
  return `${text}${last};dur=${headMs.toFixed(1)}`
}

/** Adds headers that loaders have set, except those that the runtime controls. `Vary` is added with the names of the runtime. */
export function addGivenHeaders(headers: HeaderList, context: RequestContext): void {
  const given = context.givenHeaders
  if (given === undefined) return
  for (const [name, value] of given) {
    if (!OWN_HEADERS.has(name)) headers.push(name, value)
  }
}

const OWN_HEADERS = new Set([
  'age',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'transfer-encoding',
  'vary',
])
