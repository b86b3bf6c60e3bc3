/**
 * When targets were last dropped, for browsers that were not listening then. Times are microseconds since the epoch on a
 * clock that never stops or goes back: each drop is later than all data that was read before it, and no later
 * than data that is read after it.
 *
 * Bound: 10,000 targets. Those that were dropped longest ago are forgotten, and all unknown ones count as dropped at that
 * moment; at first that is the start of the process.
 */
import { normalTarget, targetsOver } from './revalidation-targets.ts'

const MOST_TARGETS = 10_000

/** The drops of a process, and those of others that it hears about. */
export class DropTimes {
  readonly #now: () => number
  readonly #mostTargets: number
  /** The latest last. */
  readonly #times = new Map<string, number>()
  #since: number
  #last: number

  /**
   * @param now milliseconds since the epoch.
   * @param mostTargets for tests.
   */
  constructor(now: () => number, mostTargets: number = MOST_TARGETS) {
    this.#now = now
    this.#mostTargets = mostTargets
    this.#since = this.#last = Math.floor(now() * 1_000)
  }

  /** Of the last drop of anything: data that is read now contains it. */
  get last(): number {
    return this.#last
  }

  /**
   * Notes a drop.
   * @param targets `undefined` for everything.
   * @param told its time in the process that it comes from: the same for all, unless this one has given out a later time.
   * @returns its time.
   */
  note(targets: readonly string[] | undefined, told = Math.floor(this.#now() * 1_000)): number {
    const at = (this.#last = Math.max(this.#last + 1, told))
    if (targets === undefined) {
      this.#times.clear()
      this.#since = at
      return at
    }
    for (const target of targets) {
      const name = normalTarget(target)
      this.#times.delete(name)
      this.#times.set(name, at)
    }
    for (const [name, time] of this.#times) {
      if (this.#times.size <= this.#mostTargets) break
      this.#times.delete(name)
      this.#since = time
    }
    return at
  }

  /** The last time at which something that a target names was dropped, or may have been. */
  of(target: string): number {
    const name = normalTarget(target)
    const isPath = name.startsWith('/')
    const isSubtree = isPath && name.endsWith('/*')
    let last = this.#since
    for (const over of isPath ? targetsOver(isSubtree ? name.slice(0, -2) : name) : [name]) {
      last = Math.max(last, this.#times.get(over) ?? 0)
    }
    if (isSubtree) {
      const start = name.slice(0, -1)
      for (const [dropped, time] of this.#times) if (dropped.startsWith(start)) last = Math.max(last, time)
    }
    return last
  }
}
