import { setsCookie } from '../../request/answer/answer-headers.ts'
import { cachingOf, isForOne, PRIVATE, takeRuledCaching } from '../../request/answer/caching.ts'
import type { RequestContext } from '../../request/context.ts'

/** The `Cache-Control` of a resource route: a rule has priority over the handler. */
export function resourceCaching({ status, headers }: Response, context: RequestContext): string {
  const wanted = takeRuledCaching(context) ?? headers.get('cache-control') ?? undefined
  const isPersonal = headers.has('set-cookie') || setsCookie(context)
  const guarded = isForOne(context.audience)
  return cachingOf({ status, wanted, byDefault: PRIVATE, setsCookie: isPersonal, guarded }).value
}
