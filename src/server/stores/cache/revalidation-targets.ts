import { revalidationPath, revalidationTarget } from '../../../shared/revalidation-path.ts'

/** Path of a target that is deeper is cut off here: it drops more than it says. A path of 8 KiB would have thousands. */
const MOST_DEPTH = 32

/**
 * A target of `revalidate` in the one form in which it is looked for: a tag, a path, or a path with `/*` and all below it.
 * @param name as somebody wrote it.
 */
export function normalTarget(name: string): string {
  const target = revalidationTarget(name)
  if (!target.startsWith('/') || !target.endsWith('/*')) return target
  const parts = target.slice(1, -2).split('/')
  return parts.length <= MOST_DEPTH ? target : `/${parts.slice(0, MOST_DEPTH).join('/')}/*`
}

/**
 * All targets that a page's path falls under; the rule is that of the browser's cache (`matchesTarget`).
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
