import { chainOf } from './route-chain.ts'
import type { RouteDefinitions } from './route-definition.ts'
import { RouteTableError } from './route-table-error.ts'

/**
 * Validates which pages are the same for all: a guard decides for each visitor.
 * @throws {RouteTableError} for the first fault.
 */
export function checkShared(definitions: RouteDefinitions): void {
  for (const [key, { cache, page, variants }] of Object.entries(definitions)) {
    if (variants !== undefined) checkVariants(key, variants, cache)
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

const NAME = /^[a-z][a-z\d]{0,29}$/i
const MOST = 8 // names: each request runs all functions

function checkVariants(key: string, variants: unknown, cache: unknown): void {
  const fault = (rule: string, wayOut: string): never => {
    throw new RouteTableError('bad-variants', [key], rule, wayOut)
  }
  if (cache !== 'shared') {
    fault(
      "variants choose between versions of a cached page, and this entry has no cache: 'shared'",
      "Add cache: 'shared', or remove variants",
    )
  }
  const entries = typeof variants === 'object' && variants !== null ? Object.entries(variants) : []
  if (entries.length === 0 || entries.length > MOST) {
    fault(`variants has no entry, or more than ${MOST}`, 'Write variants: { language: (request) => … }')
  }
  for (const [name, choice] of entries) {
    if (!NAME.test(name)) {
      fault(`${JSON.stringify(name)} is not the name of a variant`, 'Use up to 30 letters and digits, a letter first')
    }
    if (typeof choice !== 'function') {
      fault(`variants.${name} is not a function of the request`, `Write ${name}: (request) => …, which returns a text`)
    }
  }
}
