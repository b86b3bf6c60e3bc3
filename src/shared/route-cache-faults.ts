import { chainOf } from './route-chain.ts'
import type { RouteDefinitions } from './route-definition.ts'
import { RouteTableError } from './route-table-error.ts'

/**
 * Validates which pages are the same for all: a guard decides for each visitor.
 * @throws {RouteTableError} for the first fault.
 */
export function checkShared(definitions: RouteDefinitions): void {
  for (const [key, { cache, page }] of Object.entries(definitions)) {
    if (cache === undefined) continue
    if ((cache as string) !== 'shared') {
      throw new RouteTableError(
        'bad-cache',
        [key],
        `cache: ${JSON.stringify(cache)} is not a value of this member`,
        "Write cache: 'shared', or leave it out",
      )
    }
    if (!page) {
      throw new RouteTableError(
        'shared-without-page',
        [key],
        "cache: 'shared' is for the page of the entry, but there is none. Entries below it do not inherit it",
        'Write it on the entries of the pages',
      )
    }
    const guarded = chainOf(definitions, key).find((entry) => entry.definition.guard)
    if (guarded !== undefined) {
      throw new RouteTableError(
        'shared-behind-guard',
        guarded.key === key ? [key] : [guarded.key, key],
        "a page behind a guard is for the visitors that the guard lets through, so cache: 'shared' cannot send it to all",
        "Remove cache: 'shared', or move the page out of the guarded entry",
      )
    }
  }
}
