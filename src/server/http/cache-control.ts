import type { ServerResponse } from 'node:http'

/** Parses a `Cache-Control` into directives by lower-case name; `''` for those without a value. */
export function cacheDirectives(value: string): ReadonlyMap<string, string> {
  return new Map(
    value
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', argument = ''] = part.split('=', 2)
        return [name.trim(), argument.trim().replace(/^"(.*)"$/, '$1')] as const
      }),
  )
}

const NOT_SHARED = /(?:^|,)\s*(?:no-store\s*(?:$|[,=])|private\s*(?:$|,|=\s*(?:$|,|"")))/i

/**
 * Whether shared caches may store an answer with this `Cache-Control`: not with `private` or `no-store` (RFC 9111,
 * section 3). `private="field"` excludes only that field.
 */
export function mayBeShared(value: string): boolean {
  return !NOT_SHARED.test(value)
}

/** By the words at its end: each cache has a name of its own, such as `X-LiteSpeed-Cache-Control` or `X-Reverse-Proxy-TTL`. */
const TARGETED =
  /^(?:.+-cache-control|(?:.+-)?(?:edge|surrogate)-control|(?:.+-)?(?:cache|cdn|edge|proxy|surrogate|varnish)-ttl|x-accel-expires)$/i
const TARGETED_ENDS: ReadonlySet<string> = new Set(['l', 'L', 's', 'S'])

/** Whether a header tells some caches what `Cache-Control` tells all, and comes first for them (RFC 9213, and older ones). */
export function isTargetedCaching(name: string): boolean {
  // It is asked for each header of most answers, and the last letter rules out nearly all of them.
  return TARGETED_ENDS.has(name.at(-1) ?? '') && TARGETED.test(name)
}

/** Removes from a response what tells only some caches how long to store it. */
export function dropTargetedCaching(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (isTargetedCaching(name)) res.removeHeader(name)
}

/** Whether a cache may send an answer with this `Cache-Control` to others without asking first. */
export function mayBeSharedUnasked(value: string): boolean {
  return mayBeShared(value) && !/\bno-cache\b/i.test(value)
}
