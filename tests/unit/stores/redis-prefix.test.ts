import { expect, test } from 'vitest'
import { prefixOf } from '../../../src/server/stores/redis-link.ts'

const LONG = '@an-organization/with-a-name-that-is-longer-than-one-would-think-possible'

test('two applications never share keys, whatever their names', () => {
  const names = [
    '',
    'mill',
    'Mill',
    '@a/mill',
    'a~b',
    'a_b',
    'a:b',
    'a{b}',
    `${LONG}-one`,
    `${LONG}-two`,
    'ä',
    'ö',
    'a'.repeat(64),
    'a'.repeat(65),
  ]
  const prefixes = [0, 1].flatMap((database) => names.map((name) => prefixOf(`redis://127.0.0.1/${database}`, name)))
  expect(new Set(prefixes).size).toBe(prefixes.length)
  for (const prefix of prefixes) expect(prefix).toMatch(/^millrace:\d+:[01]:[\w.@~/-]{0,64}$/)
})

test('a plain name stays as it is', () => {
  expect(prefixOf('redis://127.0.0.1', '@a/mill')).toMatch(/:0:@a\/mill$/)
})
