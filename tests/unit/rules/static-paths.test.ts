import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchStaticFirst } from '../../../src/server/routes/decide/static-paths.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'

const page = (): Promise<object> => Promise.resolve({})
const KEYS = [
  '/',
  '/(site)/a',
  '/a/b',
  '/a/[id]',
  '/[...all]',
  '/c/[[...rest]]',
  '/c',
  '/caf%C3%A9',
  '/d.e/f-g_h',
  '/[x]/b',
]
const table = createRouteTable(Object.fromEntries(KEYS.map((key) => [key, { page }])))
const match = matchStaticFirst(table)
const SEGMENTS = ['a', 'b', 'c', 'd.e', 'f-g_h', 'caf%C3%A9', 'café', '%61', 'A', '', '__proto__', '%zz']

test('a path leads to the route that the table finds, with the same params', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 3 }),
      fc.constantFrom(undefined, 'static', 'dynamic'),
      (segments, only) => {
        const path = `/${segments.join('/')}`
        expect(match(path, only)).toEqual(table.match(path, only))
        expect(match(path, only)?.route).toBe(table.match(path, only)?.route)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('nobody can put something into the params of a route without any', () => {
  const found = match('/a/b')
  if (found === undefined || found.error !== undefined) throw new Error('not found')
  expect(() => Object.assign(found.params, { id: '7' })).toThrow(TypeError)
})
