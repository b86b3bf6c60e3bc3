/**
 * What has been dropped, and when, on a clock of this process that counts revalidations. Nothing is searched for and thrown
 * away: whatever was begun before a target was revalidated, and falls under it, counts as gone, be it kept, under way or
 * on its way from elsewhere. Bound: 10,000 targets; with one more, everything that was begun before counts as gone.
 */
import { normalTarget, targetsOver } from './revalidation-targets.ts'

const MOST_TARGETS = 10_000

/** What can be dropped. */
export interface Droppable {
  readonly tags: readonly string[]
  /** What the clock said when it was begun. */
  readonly since: number
}

/** The targets of this process, and of others as far as they are heard. */
export interface Revalidations {
  /** For `Droppable.since`. */
  readonly now: number
  /** Drops what falls under tags, paths (`/mills`) or all below a path (`/mills/*`). */
  add(targets: readonly string[]): void
  /** Drops everything. */
  addAll(): void
  /**
   * Whether something has been dropped.
   * @param pathname of the page that wants it.
   */
  concern(droppable: Droppable, pathname: string): boolean
}

/** @param mostTargets for tests. */
export function createRevalidations(mostTargets: number = MOST_TARGETS): Revalidations {
  const marks = new Map<string, number>()
  let now = 0
  let floor = 0
  let paths = 0

  function addAll(): void {
    now += 1
    floor = now
    paths = 0
    marks.clear()
  }

  return {
    get now() {
      return now
    },
    addAll,
    add(targets) {
      now += 1
      for (const target of targets) {
        const normal = normalTarget(target)
        if (normal.startsWith('/') && !marks.has(normal)) paths += 1
        marks.set(normal, now)
      }
      if (marks.size > mostTargets) addAll()
    },
    concern({ tags, since }, pathname) {
      if (since < floor) return true
      if (since === now || marks.size === 0) return false
      const isOver = (target: string): boolean => (marks.get(target) ?? 0) > since
      return tags.some(isOver) || (paths > 0 && targetsOver(pathname).some(isOver))
    },
  }
}
