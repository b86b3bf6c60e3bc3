import { safeLocation } from '../../shared/safe-location.ts'

/** Path, query and hash of a redirect's target; `undefined` where it is no path of this site. */
export function localHref(to: string): string | undefined {
  const safe = safeLocation(to)
  if (safe === undefined) return undefined
  const { pathname, search, hash } = new URL(safe, 'http://localhost')
  return pathname + search + hash
}
