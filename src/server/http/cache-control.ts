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
