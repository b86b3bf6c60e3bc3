import type { BoundaryKind } from '../../shared/route-definition.ts'
import type { ViewSegment } from './route-view.ts'

/** The nearest segment at or above `from` that has a fallback of this kind. */
export function findBoundary(chain: readonly ViewSegment[], kind: BoundaryKind, from: number): number | undefined {
  for (let at = Math.min(from, chain.length - 1); at >= 0; at -= 1) {
    if (chain[at]?.definition[kind] !== undefined) return at
  }
  return undefined
}
