import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuRatio } from '../../support/cpu-ratio.ts'
import { countValues, withMembers } from '../../../src/server/reports/intake/json-members.ts'

describe('other members in the text of an object', () => {
  test.for([
    ['{}', { b: 'x' }, '{"b":"x"}'],
    ['{"a":1}', { a: undefined }, '{}'],
    ['{"a":1}', { a: 2 }, '{"a":2}'],
    ['{"a":1,"b":1e400,"c":-0}', { a: undefined }, '{"b":1e400,"c":-0}'],
    ['{"a":1,"b":1e400,"c":-0}', { b: undefined }, '{"a":1,"c":-0}'],
    ['{"a":1.0,"b":12345678901234567890,"c":3}', { c: undefined }, '{"a":1.0,"b":12345678901234567890}'],
    [
      ' \t{ "a" : 1 ,\r "b" : [ 1.50 , {"c":"}"} ] , "d" : "," } ',
      { a: undefined },
      ' \t{ \r "b" : [ 1.50 , {"c":"}"} ] , "d" : "," } ',
    ],
    ['{"a":"\\\\","b":"\\"}","c":0}', { c: 'x' }, '{"a":"\\\\","b":"\\"}","c":"x"}'],
    ['{"a":1,"x":0,"a":2,"\\u0061":3}', { a: undefined }, '{"x":0}'],
    ['{"__proto__":1,"a":{"a":1}}', { a: undefined }, '{"__proto__":1}'],
  ] as const)('%s with %j', ([text, changes, expected]) => {
    expect(withMembers(text, changes)).toBe(expected)
    JSON.parse(withMembers(text, changes))
  })

  test('changes what it is told to, and nothing else, whatever the object', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    const space = fc.integer({ min: 0, max: 3 })
    fc.assert(
      fc.property(
        json,
        space,
        fc.string(),
        fc.option(fc.string(), { nil: undefined }),
        (object, blanks, name, value) => {
          const expected = Object.entries(object).filter(([each]) => each !== name)
          if (value !== undefined) expected.push([name, value])
          const text = withMembers(JSON.stringify(object, null, blanks), { [name]: value })
          expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(Object.fromEntries(expected)))
        },
      ),
      { numRuns: 500 },
    )
  })
})

test('values are never counted for fewer than there are', () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 1
      : Object.values(value).reduce<number>((sum, each) => sum + count(each), 1)
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bytes = Buffer.from(JSON.stringify(value))
      expect(countValues(bytes, 1_000_000)).toBeGreaterThanOrEqual(count(value) - 1)
    }),
  )
  expect(countValues(Buffer.alloc(1_000_000, ','), 10)).toBe(11)
})

test('a member that is written thousands of times costs what as many different ones do', () => {
  const objectOf = (name: (at: number) => string): string =>
    `{${Array.from({ length: 8_000 }, (_, at) => `"${name(at)}":1`).join()}}`
  const same = objectOf(() => 'dsn')
  const different = objectOf((at) => `d${at % 10}n`)
  expect(withMembers(same, {}, ['dsn'])).toBe('{"dsn":1}')
  expect(
    cpuRatio(
      () => withMembers(same, {}, ['dsn']),
      () => withMembers(different, {}, ['dsn']),
    ),
  ).toBeLessThan(8)
})
