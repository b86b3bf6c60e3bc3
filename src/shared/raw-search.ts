/** Search params for pages and loaders without a schema: text, or a list if a key is repeated. No prototype. */
export type RawSearch = Readonly<Record<string, string | string[]>>

/** Collects the decoded pairs of a query in order, for example from `URLSearchParams`. */
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
