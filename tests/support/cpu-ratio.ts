const ROUNDS = 7

/**
 * How many times the processor time of `other` one piece of work takes, by the best round of each, in turn: a ratio in one
 * run, which says the same on every machine.
 */
export function cpuRatio(one: () => unknown, other: () => unknown): number {
  const best = [Infinity, Infinity]
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, work] of [one, other].entries()) {
      const before = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(before)
      best[at] = Math.min(best[at] ?? Infinity, user + system)
    }
  }
  const [mine = 0, theirs = 0] = best
  return mine / Math.max(1, theirs)
}
