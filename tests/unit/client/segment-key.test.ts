import {
  array,
  assert,
  constantFrom,
  dictionary,
  oneof,
  property,
  record,
  shuffledSubarray,
  string,
  tuple,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { segmentKey } from '../../../src/client/core/data/segment-key.ts'

type ParamValue = string | readonly string[]

type Call = readonly [
  id: string,
  params?: Readonly<Record<string, ParamValue>>,
  search?: string,
  uses?: true | readonly string[],
]

function key(...[id, params = {}, search = '', uses = []]: Call): string {
  return segmentKey(id, params, new URLSearchParams(search), uses)
}

describe('which visits share an entry', () => {
  test.each<[title: string, one: Call, other: Call]>([
    ['a layout on pages below it', ['/a/[id]#layout', { id: '1', tab: 'x' }], ['/a/[id]#layout', { id: '1' }]],
    ['a layout in a group', ['/(g)/a#layout', { id: '1' }], ['/(g)/a#layout', {}]],
    ['the root layout', ['/#layout', { id: '1' }, '?q=1'], ['/#layout', { other: '2' }, '?q=2']],
    ['another query of a page that reads none', ['/a#page', {}, '?q=1'], ['/a#page', {}, '?r=2']],
    ['a query that is not read', ['/a#page', {}, '?q=1&z=1', ['q']], ['/a#page', {}, '?z=2&q=1', ['q']]],
    [
      'the order in which params are read',
      ['/a#page', {}, '?b=2&a=1', ['b', 'a']],
      ['/a#page', {}, '?a=1&b=2', ['a', 'b']],
    ],
    ['a param read twice', ['/a#page', {}, '?a=1', ['a', 'a']], ['/a#page', {}, '?a=1', ['a']]],
    ['a param found to be read, but absent', ['/a#page', {}, '?a=1', ['a', 'b']], ['/a#page', {}, '?a=1', ['a']]],
    ['two spellings of one query', ['/a#page', {}, '?q=a+b%21', ['q']], ['/a#page', {}, '?q=a%20b!', ['q']]],
    ['two spellings of one whole query', ['/a#page', {}, '?q=a+b', true], ['/a#page', {}, '?q=a%20b', true]],
  ])('%s: one', (_title, one, other) => {
    expect(key(...one)).toBe(key(...other))
  })

  test.each<[title: string, one: Call, other: Call]>([
    ['layout and page', ['/a#layout'], ['/a#page']],
    ['another param of a layout', ['/a/[id]#layout', { id: '1' }], ['/a/[id]#layout', { id: '2' }]],
    ['another param of a page', ['/a/[id]#page', { id: '1' }], ['/a/[id]#page', { id: '2' }]],
    ['an absent and an empty param', ['/a/[id]#page', { id: '' }], ['/a/[id]#page', {}]],
    ['a text and a list', ['/a/[...id]#page', { id: 'x' }], ['/a/[...id]#page', { id: ['x'] }]],
    ['lists cut elsewhere', ['/a/[...id]#page', { id: ['x', 'y'] }], ['/a/[...id]#page', { id: ['x,y'] }]],
    ['an absent and an empty value', ['/a#page', {}, '', ['q']], ['/a#page', {}, '?q=', ['q']]],
    ['one and two values', ['/a#page', {}, '?q=1', ['q']], ['/a#page', {}, '?q=1&q=1', ['q']]],
    ['values in another order', ['/a#page', {}, '?q=1&q=2', ['q']], ['/a#page', {}, '?q=2&q=1', ['q']]],
    ['a value that looks like a query', ['/a#page', {}, '?a=1%26b%3D2', true], ['/a#page', {}, '?a=1&b=2', true]],
    ['a whole query in another order', ['/a#page', {}, '?a=1&b=2', true], ['/a#page', {}, '?b=2&a=1', true]],
    ['a param of the same name in the query', ['/[q]#page', { q: '1' }], ['/[q]#page', {}, '?q=1', ['q']]],
    ['__proto__', ['/[__proto__]#page', JSON.parse('{"__proto__":"1"}')], ['/[__proto__]#page', {}]],
    ['__proto__ in the query', ['/a#page', {}, '?__proto__=1', ['__proto__']], ['/a#page', {}, '', ['__proto__']]],
  ])('%s: two', (_title, one, other) => {
    expect(key(...one)).not.toBe(key(...other))
  })

  test('names of Object.prototype are no params', () => {
    expect(key('/[toString]/[constructor]#layout')).toBe(key('/[toString]/[constructor]#layout', Object.create(null)))
  })
})

// Few names and values, so that equal and almost equal content is common; nasty ones, so that separators are data.
const name = constantFrom('a', 'b', '1', '0', '__proto__', 'toJSON', '","', '=')
const value = constantFrom('', '1', 'a', '","', '1&b=1', '\ud800', '%')
const paramValue = oneof(value, array(value, { minLength: 1, maxLength: 2 }))
const params = dictionary(name, paramValue, { maxKeys: 3 })
const query = array(tuple<[string, string]>(name, value), { maxLength: 4 })
const uses = oneof(constantFrom(true as const), shuffledSubarray(['a', 'b', '1', '__proto__', '"']))
const visit = record({
  id: constantFrom('/[a]#layout', '/[a]#page', '/[a]/[...b]#layout', '/(a)/[[...__proto__]]#layout', '/#layout'),
  params,
  query,
  uses,
})

type Visit = typeof visit extends { generate(...args: never[]): { value: infer Value } } ? Value : never

const OWN: Readonly<Record<string, readonly string[] | undefined>> = {
  '/[a]#layout': ['a'],
  '/[a]#page': ['a'],
  '/[a]/[...b]#layout': ['a', 'b'],
  '/(a)/[[...__proto__]]#layout': ['__proto__'],
  '/#layout': [],
}

/** What counts, as plainly as it can be said: compared by `isDeepEqual`, never joined to one text. */
function relevant({ id, params, query, uses }: Visit) {
  const search = [...new URLSearchParams(query.map(([n, v]) => [n, v]))]
  return {
    id,
    params: new Map(Object.entries(params).filter(([n]) => OWN[id]?.includes(n) ?? true)),
    search:
      uses === true
        ? search
        : new Map(search.filter(([n]) => uses.includes(n)).map(([n]) => [n, search.filter((p) => p[0] === n)])),
  }
}

function keyOf({ id, params, query, uses }: Visit): string {
  return segmentKey(id, params, new URLSearchParams(query.map(([n, v]) => [n, v])), uses)
}

test('two visits share an entry exactly when id, own params and used search are equal', () => {
  let equal = 0
  assert(
    property(visit, visit, (one, other) => {
      const expected = isEqual(relevant(one), relevant(other))
      if (expected) equal += 1
      expect(keyOf(one) === keyOf(other)).toBe(expected)
    }),
    { numRuns: 5000 },
  )
  expect(equal).toBeGreaterThan(50)
})

test('what a loader does not read never matters', () => {
  assert(
    property(visit, string(), value, (one, text, extra) => {
      if (one.uses === true) return
      const name = `not read ${text}`
      expect(keyOf({ ...one, query: [[name, extra], ...one.query] })).toBe(keyOf(one))
      if (OWN[one.id]) expect(keyOf({ ...one, params: { [name]: extra, ...one.params } })).toBe(keyOf(one))
    }),
  )
})

function isEqual(one: unknown, other: unknown): boolean {
  try {
    expect(one).toStrictEqual(other)
    return true
  } catch {
    return false
  }
}
