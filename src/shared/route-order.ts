import type { PatternSegment } from './route-pattern.ts'

const RANK = { static: 0, param: 1, catchAll: 2, optionalCatchAll: 3 } as const

/**
 * The order in which patterns are tried, for `Array.sort`. By segment: the page itself, static texts by code unit,
 * `[x]`, `[...x]`, `[[...x]]`. The names of params do not matter.
 */
export function compareSegments(left: readonly PatternSegment[], right: readonly PatternSegment[]): number {
  for (const [index, a] of left.entries()) {
    const b = right[index]
    if (b === undefined) return 1
    if (a.kind === 'static' && b.kind === 'static') {
      if (a.text !== b.text) return a.text < b.text ? -1 : 1
    } else if (a.kind !== b.kind) {
      return RANK[a.kind] - RANK[b.kind]
    }
  }
  return left.length - right.length
}
