import { readFileSync } from 'node:fs'
import type { RouteTableFault } from '../../../src/shared/route-table-error.ts'

interface Case {
  readonly id: string
  readonly note?: string
}

/** The sections of the routing vectors that judge the table and its matching. */
interface RoutingVectors {
  readonly sorting: readonly (Case & { patterns: readonly string[]; sorted: readonly string[] })[]
  readonly invalidTables: readonly (Case & { patterns: readonly string[]; kind: RouteTableFault })[]
  readonly validTables: readonly (Case & { patterns: readonly string[] })[]
  readonly matching: readonly (Case & {
    pattern: string
    path: string
    params: Readonly<Record<string, unknown>> | null
  })[]
}

/** Read with `JSON.parse`, because an imported `"__proto__"` would set the prototype instead of a key. */
export const vectors = JSON.parse(
  readFileSync(new URL('../../vectors/routing.json', import.meta.url), 'utf8'),
) as RoutingVectors

/** A title for a case. */
export function titleOf({ id, note }: Case): string {
  return note === undefined ? id : `${id}: ${note}`
}
