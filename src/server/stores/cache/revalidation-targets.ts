import { revalidationPath, revalidationTarget } from '../../../shared/revalidation-path.ts'

/** Deeper paths are cut off here and drop more than they name: a path of 8 KiB would have thousands of levels. */
const MOST_DEPTH = 32

/**
 * Normalises a target of `revalidate`: a tag, a path, or a path with `/*` for everything below it. The result has bounded
 * length: 100 characters for a tag, and for each of 32 segments of a path.
 * @param name as the application wrote it.
 * @returns `''` for a path longer than any URL.
 */
export function normalTarget(name: string): string {
  const target = revalidationTarget(name)
  if (!target.startsWith('/')) return target
  const parts = target.split('/', MOST_DEPTH + 2)
  return parts.length < MOST_DEPTH + 2 ? target : `${parts.slice(0, -1).join('/')}/*`
}

/** What an application's targets name, each once. */
export function namedTargets(names: Iterable<string>): readonly string[] {
  const named = new Set<string>()
  for (const name of names) named.add(normalTarget(name))
  named.delete('')
  return [...named]
}

/** Begins targets of the runtime that no data has: they tell processes of something else, and nothing is kept of them. */
export const NEWS = 'millrace:session '

/** Those of them that data may have. */
export function targetsOfData(targets: readonly string[]): readonly string[] {
  return targets.filter((target) => !target.startsWith(NEWS))
}

/**
 * All targets that include a page's path, by the same rule as the browser's cache (`matchesTarget`).
 * @param path still percent-encoded.
 */
export function targetsOver(path: string): readonly string[] {
  const pathname = revalidationPath(path)
  const over = [pathname, '/*']
  if (pathname === '/') return over
  let end = 0
  for (let depth = 0; depth < MOST_DEPTH && end < pathname.length; depth += 1) {
    const next = pathname.indexOf('/', end + 1)
    end = next < 0 ? pathname.length : next
    over.push(`${pathname.slice(0, end)}/*`)
  }
  return over
}
