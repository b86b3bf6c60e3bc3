import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainPath } from '../../../src/server/http/plain-path.ts'

test.for([
  ['/members/a', '/members/a'],
  ['/%6dembers/%61', '/members/a'],
  ['/%4D%4d', '/MM'],
  ['/%7e%2d%2E%5f', '/~-._'],
  ['/%40staff%3a', '/@staff:'],
  ['/a%2fb%5cc', '/a%2Fb%5Cc'],
  ['/%2561', '/%2561'],
  ['/%c3%a4', '/%C3%A4'],
  ['/a%20"<b>|', '/a%20%22%3Cb%3E%7C'],
  ['/', '/'],
] as const)('%s is written as %s', ([path, plain]) => {
  expect(plainPath(path)).toBe(plain)
})

test('paths that decode alike are written alike, and decode to what they did', () => {
  const segment = fc.array(fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.nat(2)), {
    maxLength: 8,
  })
  const spell = (units: readonly (readonly [string, number])[], how: (style: number) => number): string => {
    return units.map(([unit, style]) => spelled(unit, how(style))).join('')
  }
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
      const one = `/${segments.map((units) => spell(units, (style) => style)).join('/')}`
      const other = `/${segments.map((units) => spell(units, (style) => (style + 1) % 3)).join('/')}`
      expect(plainPath(one)).toBe(plainPath(other))
      expect(plainPath(one).split('/').map(decodeURIComponent)).toEqual(one.split('/').map(decodeURIComponent))
    }),
  )
})

/** Three spellings of a character: as short as may be, and encoded by digits of either case. */
function spelled(unit: string, style: number): string {
  const bytes = [...Buffer.from(unit.isWellFormed() ? unit : '?')]
  const encoded = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  return style === 0 && /[\w.~!"'()*<>-]/.test(unit) ? unit : style === 1 ? encoded : encoded.toUpperCase()
}
