/**
 * Records what was dropped, and when, on a clock of this process that counts revalidations. Nothing is searched for:
 * everything that falls under a target and was started before its revalidation counts as dropped, whether it is kept
 * or still being made.
 *
 * Bound: 10,000 targets. Beyond it,
 *
 * | most of them are | then                                                                                          |
 * |------------------|-----------------------------------------------------------------------------------------------|
 * | tags             | caches check what they keep once, and the tags are forgotten; values with tags that are being made count as dropped |
 * | paths            | the folder with the most paths replaces them: `/notes/1` and `/notes/2` become `/notes/*`     |
 *
 * So targets of one kind, however many a visitor can cause, drop nothing of the other kind.
 */
import type { LruCache } from './lru-cache.ts'
import { normalTarget, targetsOver } from './revalidation-targets.ts'

const MOST_TARGETS = 10_000

/** Something that can be dropped. */
export interface Droppable {
  readonly tags: readonly string[]
  /** The clock when it was started. */
  readonly since: number
  /** The clock when a cache last checked its tags and found it valid. */
  readonly settled?: number | undefined
}

const TAG_BYTES = 24 // for a tag's header and its place in the list

/** Memory of tags: their number is the application's, which may take it from a visitor. */
export function bytesOfTags(tags: readonly string[]): number {
  let bytes = 0
  for (const tag of tags) bytes += tag.length + TAG_BYTES
  return bytes
}

/** Checks everything that a cache keeps: deletes what is dropped by its tags, and sets `settled` on the rest. */
type Settle = (isDropped: (droppable: Droppable) => boolean, settled: number) => void

/** Settles a cache: for `onSettle`. */
export function settleEntries<Entry extends Droppable & { settled?: number }>(
  cache: Pick<LruCache<Entry>, 'entries' | 'delete'>,
): Settle {
  return (isDropped, settled) => {
    for (const [key, entry] of cache.entries()) {
      if (isDropped(entry)) cache.delete(key)
      else entry.settled = settled
    }
  }
}

/** The targets that this process has revalidated, and those of other processes that it knows about. */
export interface Revalidations {
  /** For `Droppable.since`. */
  readonly now: number
  /** Drops everything under tags, paths (`/mills`) or subtrees (`/mills/*`). */
  add(targets: readonly string[]): void
  /** Drops everything. */
  addAll(): void
  /**
   * Whether something has been dropped.
   * @param pathname of the requesting page.
   */
  concern(droppable: Droppable, pathname: string): boolean
  /** Registers a cache. */
  onSettle(settle: Settle): void
}

/** @param mostTargets for tests. */
export function createRevalidations(mostTargets: number = MOST_TARGETS): Revalidations {
  const tags = new Map<string, number>()
  const paths = new Map<string, number>()
  const caches: Settle[] = []
  let now = 0
  let floor = 0
  /** Tags that were dropped before this moment are forgotten. */
  let tagFloor = 0

  function addAll(): void {
    now += 1
    floor = now
    tags.clear()
    paths.clear()
  }

  function isTagDropped({ tags: own, since, settled = 0 }: Droppable): boolean {
    const from = Math.max(since, settled)
    if (own.length === 0 || from === now) return false
    return from < tagFloor || own.some((tag) => (tags.get(tag) ?? 0) > from)
  }

  function makeRoom(): void {
    if (tags.size * 2 > mostTargets) {
      for (const settle of caches) settle(isTagDropped, now)
      tags.clear()
      tagFloor = now
    }
    // Far below the bound, so that the next target does not repeat it.
    joinPaths(paths, Math.max(1, Math.floor(mostTargets / 4)))
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
        ;(normal.startsWith('/') ? paths : tags).set(normal, now)
      }
      if (tags.size + paths.size > mostTargets) makeRoom()
    },
    concern(droppable, pathname) {
      const { since } = droppable
      if (since < floor) return true
      if (since === now) return false
      if (isTagDropped(droppable)) return true
      return paths.size > 0 && targetsOver(pathname).some((target) => (paths.get(target) ?? 0) > since)
    },
    onSettle: (settle) => void caches.push(settle),
  }
}

/** By what to replace a path without its star: its folder, then ever higher ones. Each step looks at all paths. */
const FOLDERS: readonly ((path: string) => string)[] = [
  (path) => path.slice(0, Math.max(0, path.lastIndexOf('/'))) || path,
  (path) => `/${path.split('/', 3).slice(1).join('/')}`,
  (path) => `/${path.split('/', 2)[1]}`,
  () => '',
]

/** Replaces paths with their folders, largest folders first, until `most` remain. */
function joinPaths(paths: Map<string, number>, most: number): void {
  for (const folderOf of FOLDERS) {
    const folders = Map.groupBy(paths.keys(), (path) => folderOf(path.endsWith('/*') ? path.slice(0, -2) : path))
    for (const [folder, members] of [...folders].toSorted(([, one], [, other]) => other.length - one.length)) {
      if (paths.size <= most) return
      if (members.length === 1) break
      const latest = Math.max(...members.map((path) => paths.get(path) ?? 0))
      for (const path of members) paths.delete(path)
      paths.set(folder === '/' ? '/*' : `${folder}/*`, latest)
    }
  }
}
