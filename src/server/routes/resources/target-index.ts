import { targetsOver } from '../../stores/cache/revalidation-targets.ts'

/**
 * Finds what names a target that a drop concerns: a tag, a path, or a subtree (`/mills/*`). A tag and a path cost some
 * lookups, however many targets are known. A drop of subtrees looks at each known path once, however many they are.
 */
export class TargetIndex<Item> {
  readonly #tags = new Map<string, Set<Item>>()
  readonly #paths = new Map<string, Set<Item>>()

  /** @param target as `normalTarget` writes it, as all targets here. */
  add(target: string, item: Item): void {
    const targets = this.#of(target)
    const items = targets.get(target)
    if (items === undefined) targets.set(target, new Set([item]))
    else items.add(item)
  }

  remove(target: string, item: Item): void {
    const targets = this.#of(target)
    const items = targets.get(target)
    items?.delete(item)
    if (items?.size === 0) targets.delete(target)
  }

  /** Those that a drop concerns, each with those of its targets. */
  concerned(dropped: readonly string[]): ReadonlyMap<Item, readonly string[]> {
    const found = new Map<Item, string[]>()
    for (const target of this.#targetsOf(dropped)) {
      for (const item of this.#of(target).get(target) ?? []) {
        const own = found.get(item)
        if (own === undefined) found.set(item, [target])
        else own.push(target)
      }
    }
    return found
  }

  /** What is dropped itself, what includes it, and what it includes. */
  #targetsOf(dropped: readonly string[]): ReadonlySet<string> {
    const targets = new Set(dropped)
    const subtrees: string[] = []
    for (const name of new Set(dropped)) {
      if (!name.startsWith('/')) continue
      const isSubtree = name.endsWith('/*')
      if (isSubtree) subtrees.push(name.slice(0, -1))
      for (const over of targetsOver(isSubtree ? name.slice(0, -2) : name)) targets.add(over)
    }
    const outermost = outermostOf(subtrees)
    if (outermost.length === 0) return targets
    for (const path of this.#paths.keys()) if (isBelowAny(`${path}/`, outermost)) targets.add(path)
    return targets
  }

  #of(target: string): Map<string, Set<Item>> {
    return target.startsWith('/') ? this.#paths : this.#tags
  }
}

/** In order, without those that lie in others. */
function outermostOf(folders: readonly string[]): readonly string[] {
  const outermost: string[] = []
  for (const folder of folders.toSorted()) {
    const last = outermost.at(-1)
    if (last === undefined || !folder.startsWith(last)) outermost.push(folder)
  }
  return outermost
}

/** None lies in another, so only the last one that is not after the path can hold it. */
function isBelowAny(path: string, outermost: readonly string[]): boolean {
  let [from, to] = [0, outermost.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((outermost[middle] ?? '') <= path) from = middle + 1
    else to = middle
  }
  return from > 0 && path.startsWith(outermost[from - 1] ?? '')
}
