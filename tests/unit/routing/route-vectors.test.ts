import { describe, expect, it } from 'vitest'
import type { RouteMatch } from '../../../src/shared/route-table.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { RouteTableError } from '../../../src/shared/route-table-error.ts'
import { validateRouteTable } from '../../../src/shared/route-table-faults.ts'
import { titleOf, vectors } from './routing-vectors.ts'

const page = () => Promise.resolve({})

function pagesOf(patterns: readonly string[]) {
  return Object.fromEntries(patterns.map((pattern) => [pattern, { page }]))
}

function faultOf(judge: () => void): RouteTableError {
  try {
    judge()
  } catch (error) {
    if (error instanceof RouteTableError) return error
    throw error
  }
  throw new Error('nothing was found wrong')
}

describe('routes are tried in the published order', () => {
  it.each(vectors.sorting.map((vector) => [titleOf(vector), vector] as const))('%s', (_title, { patterns, sorted }) => {
    for (const order of [patterns, patterns.toReversed()]) {
      expect(createRouteTable(pagesOf(order)).routes.map((route) => route.pattern)).toEqual(sorted)
    }
  })
})

describe('a faulty table stops the build with the fault and the culprits', () => {
  it.each(vectors.invalidTables.map((vector) => [titleOf(vector), vector] as const))(
    '%s',
    (_title, { patterns, kind }) => {
      for (const order of [patterns, patterns.toReversed()]) {
        // Two equal keys cannot stand in one object; with a group in between they can.
        const keyed = new Set(order).size === order.length ? order : order.map((key, index) => `/(g${index})${key}`)
        const fault = faultOf(() => validateRouteTable(pagesOf(keyed)))
        expect(fault.kind).toBe(kind)
        expect(fault.patterns).toHaveLength(patterns.length === 1 ? 1 : 2)
        for (const culprit of fault.patterns) expect(fault.message).toContain(`'${culprit}'`)
      }
    },
  )
})

describe('a sound table is accepted', () => {
  it.each(vectors.validTables.map((vector) => [titleOf(vector), vector] as const))('%s', (_title, { patterns }) => {
    expect(() => validateRouteTable(pagesOf(patterns))).not.toThrow()
  })

  it.each(vectors.sorting.map((vector) => [titleOf(vector), vector] as const))('%s', (_title, { patterns }) => {
    expect(() => validateRouteTable(pagesOf(patterns))).not.toThrow()
  })
})

/** As the vectors write it: `null` for no match, the error, or the params as pairs (`__proto__` among them). */
function outcomeOf(match: RouteMatch | undefined) {
  if (match === undefined) return null
  return match.error === undefined ? Object.entries(match.params) : [['error', match.error]]
}

describe('a pattern answers the paths it should, with params decoded once', () => {
  it.each(vectors.matching.map((vector) => [titleOf(vector), vector] as const))(
    '%s',
    (_title, { pattern, path, params }) => {
      const match = createRouteTable(pagesOf([pattern])).match(path)
      expect(outcomeOf(match)).toEqual(params && Object.entries(params))
    },
  )
})
