import { describe, expect, test } from 'vitest'
import { findChangedValue, findLostValue } from '../../../src/shared/protocol/lost-values.ts'

class Price {
  readonly cents = 1
}

describe('values that would not arrive', () => {
  test.for([
    [{ format: () => '' }, '.format', 'a function'],
    [{ rows: [1, { 'a b': Symbol('x') }] }, '.rows[1]["a b"]', 'a symbol of its own'],
    [{ price: new Price() }, '.price', 'an instance of Price'],
    [{ cache: new WeakMap() }, '.cache', 'an instance of WeakMap'],
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

class Decimal {
  toJSON(): string {
    return '1.50'
  }
}

test.for([
  [{ price: new Decimal() }, '.price', 'an instance of Decimal, which arrives as the result of its toJSON()'],
  [{ rows: new Map([['a b', { price: new Price() }]]) }, '.rows.get("a b").price', 'an instance of Price'],
  [{ all: new Set([1, () => 0]) }, '.all{1}', 'a function'],
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
