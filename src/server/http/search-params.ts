import { rawSearch, type RawSearch } from '../../shared/raw-search.ts'

const NOTHING: RawSearch = Object.freeze(Object.create(null) as Record<string, string>)

/** Parses a query: `''` or beginning with `?`. Undecodable sequences stay, as the URL standard says. */
export function parseSearch(search: string): RawSearch {
  return search === '' ? NOTHING : rawSearch(new URLSearchParams(search))
}
