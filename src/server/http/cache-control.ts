/** Reads the directives of a `Cache-Control` by lower-case name; `''` for those without a value. */
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

/**
 * Whether caches that serve several visitors may keep an answer with this `Cache-Control`: unless it says `private` or
 * `no-store` (RFC 9111, section 3). `private="field"` forbids them that field alone.
 */
export function mayBeShared(value: string): boolean {
  const directives = cacheDirectives(value)
  return !directives.has('no-store') && directives.get('private') !== ''
}
