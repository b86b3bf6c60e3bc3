import { describe, expect, test } from 'vitest'
import { findChangedValue, findLostValue } from '../../../src/shared/protocol/lost-values.ts'

class Price {
  readonly cents = 1
}

function nested(depth: number, value: unknown): unknown {
  return depth === 0 ? value : { in: nested(depth - 1, value) }
}

/** As it is after a match. */
function matched(expression: RegExp): RegExp {
  expression.test('abc')
  return expression
}

describe('values that would not arrive', () => {
  test.for([
    [{ format: () => '' }, '.format', 'a function'],
    [{ rows: [1, { 'a b': Symbol('x') }] }, '.rows[1]["a b"]', 'a symbol of its own'],
    [{ price: new Price() }, '.price', 'an instance of Price'],
    [{ cache: new WeakMap() }, '.cache', 'an instance of WeakMap'],
    [{ found: /b/.exec('abc') }, '.found.index', 'a member of an instance of Array'],
    [{ at: Object.assign(new Date(0), { zone: 'UTC' }) }, '.at.zone', 'a member of an instance of Date'],
    [{ [Symbol('mine')]: 1 }, '[Symbol(mine)]', 'a member with a symbol as its key'],
    [{ boxed: [new Number(1)] }, '.boxed[0]', 'an instance of Number'],
    [{ half: new Float16Array(1) }, '.half', 'an instance of Float16Array'],
    [{ headers: new Headers() }, '.headers', 'an instance of Headers'],
    [
      {
        own: new (class Map {
          readonly size = 0
        })(),
      },
      '.own',
      'an instance of Map',
    ],
    [{ rows: new Map([['a b', { price: new Price() }]]) }, '.rows.get("a b").price', 'an instance of Price'],
    [new Map([[new Price(), 1]]), '.keys(){…}', 'an instance of Price'],
    [{ all: new Set([1, () => 0]) }, '.all{1}', 'a function'],
  ] as const)('%o is named', ([value, path, what]) => {
    expect(findLostValue(value)).toEqual({ path, what })
  })

  test.for([
    [null],
    ['text'],
    [{ date: new Date(0), map: new Map(), set: new Set(), url: new URL('http://a.test'), late: Promise.resolve(1) }],
    [
      {
        bytes: new Uint8Array(1),
        big: 1n,
        none: undefined,
        bare: Object.create(null) as object,
        error: new TypeError('x'),
      },
    ],
    [{ shared: Symbol.for('shared'), json: { toJSON: () => 1 }.toJSON() }],
  ])('%o travels', ([value]) => {
    expect(findLostValue(value)).toBeUndefined()
  })
})

/** Not in a table: its titles would print them. */
test('a billion holes, great depth and objects that are shared many times cost no more than their members', () => {
  const sparse = Object.assign([], { 4294967294: () => 1 })
  expect(findLostValue({ sparse })).toEqual({ path: '.sparse[4294967294]', what: 'a function' })
  expect(findLostValue(nested(400, () => 1))?.path).toBe('.in'.repeat(400))
  let shared: unknown = {}
  for (let depth = 0; depth < 100; depth += 1) shared = { a: shared, b: shared }
  expect(findLostValue(shared)).toBeUndefined()
})

class Decimal {
  toJSON(): string {
    return '1.50'
  }
}

test.for([
  [{ price: new Decimal() }, '.price', 'an instance of Decimal, which arrives as the result of its toJSON()'],
  [{ next: matched(/b/g) }, '.next', 'a regular expression with lastIndex 2, which arrives with 0'],
] as const)('%o travels, and is another value in the browser', ([value, path, what]) => {
  expect(findLostValue(value)).toBeUndefined()
  expect(findChangedValue(value)).toEqual({ path, what })
})

test('what arrives as it is has not changed', () => {
  const whole = {
    date: new Date(0),
    url: new URL('http://a.test'),
    map: new Map([[1, [new Set(['x'])]]]),
    bytes: Buffer.of(1),
  }
  expect(findChangedValue(whole)).toBeUndefined()
})
