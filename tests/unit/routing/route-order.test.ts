import { assert, constantFrom, array, property, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { RouteTableError } from '../../../src/shared/route-table-error.ts'
import { validateRouteTable } from '../../../src/shared/route-table-faults.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'

const page = () => Promise.resolve({})

// Few texts and one name a depth, so that patterns overlap and paths hit them.
const pattern = tuple(
  array(constantFrom('a', 'b', 'c', '[]'), { maxLength: 4 }),
  constantFrom('', '', '[...rest]', '[[...rest]]'),
).map(([segments, last]) => {
  const named = segments.map((segment, depth) => (segment === '[]' ? `[p${depth}]` : segment))
  return `/${[...named, ...(last === '' ? [] : [last])].join('/')}`
})
const path = array(constantFrom('a', 'b', 'c', 'd'), { maxLength: 5 }).map((segments) => `/${segments.join('/')}`)

function tableOf(patterns: readonly string[]) {
  return Object.fromEntries(patterns.map((key) => [key, { page }]))
}

function isSound(patterns: readonly string[]): boolean {
  try {
    validateRouteTable(tableOf(patterns))
    return true
  } catch (error) {
    if (error instanceof RouteTableError) return false
    throw error
  }
}

/** A second opinion, written another way: the pattern as a regular expression. */
function answers(candidate: string, url: string): boolean {
  const source = candidate
    .split('/')
    .slice(1)
    .map((segment) => {
      if (segment.startsWith('[[...')) return '(/[^/]+)*'
      if (segment.startsWith('[...')) return '(/[^/]+)+'
      return segment.startsWith('[') ? '/[^/]+' : `/${segment}`
    })
    .join('')
  return new RegExp(`^(?:${candidate === '/' ? '' : source})$`).test(url === '/' ? '' : url)
}

it('in every table the first pattern that fits is the one that answers', () => {
  assert(
    property(array(pattern, { maxLength: 12 }), array(path, { minLength: 1, maxLength: 8 }), (patterns, paths) => {
      // Added one by one, so that what is left is a sound table of some size.
      const sound = patterns.reduce<string[]>((kept, next) => (isSound([...kept, next]) ? [...kept, next] : kept), [])
      const { match, routes } = createRouteTable(tableOf(sound))
      const sorted = routes.map((route) => route.pattern)
      for (const url of paths) {
        expect(match(url)?.route.pattern).toBe(sorted.find((candidate) => answers(candidate, url)))
        for (const only of ['static', 'dynamic'] as const) {
          const some = sorted.filter((candidate) => candidate.includes('[') === (only === 'dynamic'))
          expect(match(url, only)?.route.pattern).toBe(some.find((candidate) => answers(candidate, url)))
        }
      }
    }),
    { numRuns: 1000 },
  )
})
