/**
 * How the cost of matching grows with the table: `node tests/bench/match-routes.ts`. Checks the answers first, then
 * prints the time a match takes, as a ratio to the smallest table of the same run.
 */
import type { RouteDefinitions } from '../../src/shared/route-definition.ts'
import type { RouteTable } from '../../src/shared/route-table.ts'
import { createRouteTable } from '../../src/shared/route-table.ts'

const page = () => Promise.resolve({})

// One area of a typical application: ten routes, up to four segments deep. Paths with the pattern that answers them.
const AREA = [
  ['', ''],
  ['/new', '/new'],
  ['/[id]', '/4711'],
  ['/[id]/edit', '/4711/edit'],
  ['/[id]/comments/[comment]', '/caf%C3%A9/comments/9'],
  ['/files/[...path]', '/files/a/b%20c/d'],
  ['/reports/[year]/[month]', '/reports/2031/07'],
  ['/settings/profile', '/settings/profile'],
  ['/settings/security/keys', '/settings/security/keys'],
  ['/search/[[...filters]]', '/search/red'],
] as const

/** Paths are spread over the whole table, but no more than these, so that every size runs the same loop. */
const PATHS_PER_ROUND = 1000

const SIZES = [10, 100, 1000, 10_000] as const

/** The time a match takes in a table of one size. */
interface MatchingCost {
  /** Routes in the table. */
  readonly routes: number
  /** Nanoseconds per match: the best round, which is the one least disturbed. */
  readonly nanoseconds: number
  /** `nanoseconds` over that of the smallest table in the same run. */
  readonly growth: number
}

/**
 * Measures the sizes in turns, so that a slow moment of the machine hits all of them.
 * @param budgetMs how long to measure, all sizes together, in ms.
 * @param now a clock in ms.
 * @throws if a table gives a wrong answer.
 */
export function measureMatching(budgetMs: number, now: () => number): readonly MatchingCost[] {
  const workloads = SIZES.map((routes) => prepare(routes))
  const best = workloads.map(() => Infinity)
  const end = now() + budgetMs
  do {
    for (const [index, { table, paths }] of workloads.entries()) {
      best[index] = Math.min(best[index] ?? Infinity, timeRound(table, paths, now))
    }
  } while (now() < end)
  const smallest = best[0] ?? Infinity
  return best.map((nanoseconds, index) => ({
    routes: SIZES[index] ?? 0,
    nanoseconds,
    growth: nanoseconds / smallest,
  }))
}

function prepare(routes: number): { readonly table: RouteTable; readonly paths: readonly string[] } {
  const definitions: Record<string, RouteDefinitions[string]> = {}
  const areas = routes / AREA.length
  for (let area = 0; area < areas; area++) {
    for (const [pattern] of AREA) definitions[`/area-${area}${pattern}`] = { page }
  }
  const table = createRouteTable(definitions)

  const paths: string[] = []
  for (let index = 0; index < PATHS_PER_ROUND; index++) {
    // A stride coprime to the number of areas visits them in no helpful order.
    const area = (Math.floor(index / AREA.length) * 7919) % areas
    const [pattern, path] = AREA[index % AREA.length] ?? ['', '']
    paths.push(`/area-${area}${path}`)
    const found = table.match(`/area-${area}${path}`)?.route.pattern
    if (found !== `/area-${area}${pattern}`) throw new Error(`${path} in area ${area} was answered by ${found}`)
  }
  for (const miss of ['/nowhere', '/area-0/4711/edit/more', '/area-0/reports/2031']) {
    if (table.match(miss) !== undefined) throw new Error(`${miss} was answered by ${table.match(miss)?.route.pattern}`)
  }
  return { table, paths }
}

function timeRound(table: RouteTable, paths: readonly string[], now: () => number): number {
  const rounds = 10
  const start = now()
  let matched = 0
  for (let round = 0; round < rounds; round++) {
    for (const path of paths) if (table.match(path) !== undefined) matched++
  }
  const elapsed = now() - start
  if (matched !== rounds * paths.length) throw new Error('a path that was answered before is not answered any more')
  return (elapsed * 1e6) / matched
}

if (import.meta.main) {
  for (const { routes, nanoseconds, growth } of measureMatching(4000, () => performance.now())) {
    const size = String(routes).padStart(6)
    console.log(`${size} routes  ${nanoseconds.toFixed(0).padStart(5)} ns/match  ${growth.toFixed(2)} x`)
  }
}
