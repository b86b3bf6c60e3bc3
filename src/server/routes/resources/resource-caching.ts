import { mayBeShared } from '../../http/cache-control.ts'
import { setsCookie, unnamedReads } from '../../request/answer/answer-headers.ts'
import { cachingOf, isForOne, PRIVATE, takeRuledCaching } from '../../request/answer/caching.ts'
import type { RequestContext } from '../../request/context.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { joinVary } from '../../http/vary.ts'

/**
 * The `Cache-Control` of a resource route: a rule has priority over the handler, unless it would share what that calls private.
 * With the `Vary` of the handler, and what caches need besides.
 * @param chosenBy what else the answer depends on, as names for `Vary`.
 */
export function resourceCaching(
  { status, headers, url }: Response,
  context: RequestContext,
  chosenBy = '',
): HeaderList {
  const { givenHeaders } = context
  // Of the response and of `context.headers`, what a guard or a helper calls private stays so.
  const given = [headers, givenHeaders].flatMap((some) => some?.get('cache-control') ?? [])
  const own = given.find((value) => !mayBeShared(value)) ?? given[0]
  const ruled = takeRuledCaching(context)
  const wanted = own !== undefined && !mayBeShared(own) && mayBeShared(ruled ?? own) ? own : (ruled ?? own)
  const isPersonal = headers.has('set-cookie') || setsCookie(context)
  const [responseVary, givenVary] = [headers.get('vary') ?? '', givenHeaders?.get('vary') ?? '']
  // That of an answer that `fetch` has got means another server.
  const declared = joinVary(url === '' ? responseVary : '', givenVary)
  const { audience } = context
  audience.isRuled = own === undefined || !mayBeShared(own)
  const guarded = isForOne(audience, declared, audience.isRuled)
  const { value } = cachingOf({ status, wanted, byDefault: PRIVATE, setsCookie: isPersonal, guarded })
  const vary = joinVary(chosenBy, responseVary, givenVary, ...unnamedReads(context, value, declared))
  return ['Cache-Control', value, ...(vary === '' ? [] : ['Vary', vary])]
}
