import type { HrefSearch } from '../../shared/href.ts'

/**
 * The query of search params, without those that have their default.
 * @returns `''`, or the query with its question mark.
 */
export function withoutDefaults(params: URLSearchParams, defaults: HrefSearch = {}): string {
  for (const [name, value] of Object.entries(defaults)) {
    const texts = [value].flat().map(String)
    if (value !== undefined && JSON.stringify(params.getAll(name)) === JSON.stringify(texts)) params.delete(name)
  }
  const query = params.toString()
  return query === '' ? '' : `?${query}`
}
