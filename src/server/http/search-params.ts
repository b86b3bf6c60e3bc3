import { rawSearch, type RawSearch } from '../../shared/raw-search.ts'

const NOTHING: RawSearch = Object.freeze(Object.create(null) as Record<string, string>)

/** Reads a query: `''` or beginning with `?`. Undecodable sequences stay as the URL standard keeps them. */
export function parseSearch(search: string): RawSearch {
  return search === '' ? NOTHING : rawSearch(new URLSearchParams(search))
}
