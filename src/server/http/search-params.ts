/** Search params as loaders get them without a schema: text, or a list where a key is repeated. No prototype. */
export type RawSearch = Readonly<Record<string, string | string[]>>

const NOTHING: RawSearch = Object.freeze(Object.create(null) as Record<string, string>)

/** Reads a query (`''` or beginning with `?`). Undecodable sequences are kept as the URL standard keeps them. */
export function parseSearch(search: string): RawSearch {
  if (search === '') return NOTHING
  const parsed = Object.create(null) as Record<string, string | string[]>
  for (const [key, value] of new URLSearchParams(search)) {
    const known = parsed[key]
    if (known === undefined) parsed[key] = value
    else if (Array.isArray(known)) known.push(value)
    else parsed[key] = [known, value]
  }
  return parsed
}
