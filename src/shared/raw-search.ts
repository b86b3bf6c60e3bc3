/** Search params as pages and loaders get them without a schema: text, or a list where a key is repeated. */
export type RawSearch = Readonly<Record<string, string | string[]>>

/**
 * Collects the pairs of a query.
 * @param pairs decoded, in their order; `URLSearchParams` is one.
 * @returns an object without a prototype.
 */
export function rawSearch(pairs: Iterable<readonly [string, string]>): RawSearch {
  const collected = Object.create(null) as Record<string, string | string[]>
  for (const [key, value] of pairs) {
    const known = collected[key]
    if (known === undefined) collected[key] = value
    else if (Array.isArray(known)) known.push(value)
    else collected[key] = [known, value]
  }
  return collected
}
