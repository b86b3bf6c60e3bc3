import { expect, test } from 'vitest'
import { parseSearch } from '../../../src/server/http/search-params.ts'

test.for([
  ['', {}],
  ['?a=1', { a: '1' }],
  ['?a=1&a=2&a=', { a: ['1', '2', ''] }],
  ['?a+b=%20&c', { 'a b': ' ', c: '' }],
  ['?a=%zz', { a: '%zz' }],
  ['?constructor=x&toString=y', { constructor: 'x', toString: 'y' }],
] as const)('the query %s is read as loaders get it', ([search, expected]) => {
  expect({ ...parseSearch(search) }).toEqual(expected)
})

test('a query cannot reach the prototype of anything', () => {
  const parsed = parseSearch('?__proto__=x&__proto__=y&a=1')
  expect(Object.getPrototypeOf(parsed)).toBeNull()
  expect(Object.entries(parsed)).toEqual([
    ['__proto__', ['x', 'y']],
    ['a', '1'],
  ])
  expect(Object.getPrototypeOf(parseSearch(''))).toBeNull()
})
