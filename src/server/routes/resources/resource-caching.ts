import { mayBeShared } from '../../http/cache-control.ts'
import { setsCookie, unnamedReads } from '../../request/answer/answer-headers.ts'
import { cachingOf, isForOne, PRIVATE, takeRuledCaching } from '../../request/answer/caching.ts'
import type { RequestContext } from '../../request/context.ts'
import type { HeaderList } from '../../http/header-list.ts'

/**
 * The `Cache-Control` of a resource route: a rule has priority over the handler, unless it would share what that calls private.
 * With `Vary`, if caches need it.
 */
export function resourceCaching({ status, headers, url }: Response, context: RequestContext): HeaderList {
  const own = headers.get('cache-control') ?? undefined
  const ruled = takeRuledCaching(context)
  const wanted = own !== undefined && !mayBeShared(own) && mayBeShared(ruled ?? own) ? own : (ruled ?? own)
  const isPersonal = headers.has('set-cookie') || setsCookie(context)
  // That of an answer that `fetch` has got means another server.
  const ownVary = url === '' ? (headers.get('vary') ?? '') : ''
  const vary = [ownVary, context.givenHeaders?.get('vary') ?? ''].join()
  const isRuled = own === undefined || !mayBeShared(own)
  const guarded = isForOne(context.audience, vary, isRuled)
  const { value } = cachingOf({ status, wanted, byDefault: PRIVATE, setsCookie: isPersonal, guarded })
  const unnamed = unnamedReads(context, value, vary)
  return ['Cache-Control', value, ...(unnamed.length > 0 ? ['Vary', unnamed.join(', ')] : [])]
}
