import type { ServerResponse } from 'node:http'
import type { RequestContext } from '../context.ts'
import { isSecure } from '../../http/trusted-proxy.ts'
import { addVary, leaveUncompressed, setsCookie } from './answer-headers.ts'
import { dropTargetedCaching, isTargetedCaching, mayBeShared } from '../../http/cache-control.ts'
import { headSizeFault, HeadSizeError, valueIndex, type HeaderFields, type HeaderList } from '../../http/header-list.ts'
import { fitToNotModified, fitToPage } from './host-headers.ts'
import { keepLateCookiesPrivate } from './late-cookies.ts'
import { securityHeaders } from './security-headers.ts'

/**
 * Writes status and headers. Headers that a host, middleware or rules have set are kept, and win. What they say of scripts
 * and referrers is fitted to a page: see `host-headers.ts`. A `Cache-Control` among `headers` wins: its sender has judged
 * the one that was set (`caching.ts`), or must not be stored.
 * @throws {HeadSizeError} and sends nothing.
 */
export function send(context: RequestContext, status: number, headers: HeaderList): void {
  const { res } = context
  const isShared = isForAll(context, status, headers)
  context.audience.sharedBy = isShared ? `${varyIn(headers)},${String(res.getHeader('vary'))}` : undefined
  const own = isShared ? headers : withoutTargetedCaching(headers, res)
  const all = own.concat(securityHeaders(isSecure(context.clientAddress), headers))
  // A rule that makes a path cacheable means its pages, not their failures.
  if (status >= 400 || valueIndex(headers, 'cache-control') !== -1) res.removeHeader('cache-control')
  leaveUncompressed(res)
  if (isShared) keepLateCookiesPrivate(res)
  const already = res.getHeaderNames()
  // Middleware that has replaced `writeHead` may take a flat list for a list of pairs.
  if (already.length === 0 && !Object.hasOwn(res, 'writeHead')) {
    const fault = headFault(context, all)
    if (fault !== undefined) throw fault
    res.writeHead(status, all)
    return
  }
  const preset = new Set(already)
  if (status === 304) fitToNotModified(context)
  for (let index = 0; index < all.length; index += 2) {
    const name = all[index] ?? ''
    const [lower, value] = [name.toLowerCase(), all[index + 1] ?? '']
    // Without our `Vary`, caches would send one encoding to all.
    if (lower === 'vary') addVary(res, value)
    else if (lower === 'content-security-policy') addPolicy(value, context)
    else if (lower === 'set-cookie' || !preset.has(lower)) res.appendHeader(name, value)
  }
  const fault = headFault(context)
  if (fault !== undefined) throw fault
  res.writeHead(status)
}

function varyIn(headers: HeaderList): string {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'vary').join()
}

/** Whether caches may give an answer to others: then they may use headers of their own. Caches share no failures. */
function isForAll(context: RequestContext, status: number, headers: HeaderList): boolean {
  const { guarded, ofVariant } = context.audience
  if (status >= 400 || guarded || ofVariant || setsCookie(context)) return false
  const at = valueIndex(headers, 'cache-control')
  const caching = at === -1 ? context.res.getHeader('cache-control') : headers[at]
  return caching === undefined || mayBeShared(String(caching))
}

function withoutTargetedCaching(headers: HeaderList, res: ServerResponse): HeaderList {
  dropTargetedCaching(res)
  // Most answers are for one visitor and have none: they get no new list.
  const hasSome = headers.some((name, index) => index % 2 === 0 && isTargetedCaching(name))
  return hasSome ? headers.filter((_, index) => !isTargetedCaching(headers[index - (index % 2)] ?? '')) : headers
}

/**
 * As `send`, for answers that need nothing of what a host, middleware or rules have set: if that is too large, it is left
 * out. Not for the application's pages, which might have rights that those headers take from them.
 */
export function sendAnyway(context: RequestContext, status: number, headers: HeaderList): void {
  try {
    send(context, status, headers)
  } catch (error) {
    if (!(error instanceof HeadSizeError)) throw error
    context.log.warn({ route: context.record.route }, error.message)
    send(context, status, headers)
  }
}

/**
 * The fault of headers that are too large for proxies. What others have set is then dropped: the answer to the failure has
 * to fit, too.
 * @param fields those that would be sent; default: those that are set.
 */
export function headFault(
  { givenHeaders, res }: Pick<RequestContext, 'givenHeaders' | 'res'>,
  fields: HeaderFields = res.getHeaderNames().flatMap((name) => [name, res.getHeader(name)]),
): HeadSizeError | undefined {
  const fault = headSizeFault(fields)
  if (fault === undefined) return undefined
  for (const name of res.getHeaderNames()) if (name !== 'connection') res.removeHeader(name)
  const given = [...(givenHeaders?.keys() ?? [])]
  for (const name of given) givenHeaders?.delete(name)
  return fault
}

/** Browsers enforce all policies of an answer, so that of a handler restricts what a host or a rule allows. */
function addPolicy(own: string, context: RequestContext): void {
  if (context.record.kind !== 'resource') fitToPage(own, context)
  else context.res.appendHeader('Content-Security-Policy', own)
}
