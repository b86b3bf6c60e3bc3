import { expect, test } from 'vitest'
import { rewrittenSince, writtenCookies } from '../../../src/server/routes/actions/written-cookies.ts'

const SET = ['basket=two; Path=/; HttpOnly', '__Host-a.flash=Added; Path=/', 'gone=; Max-Age=0']

test.for([
  ['as before the call', 'basket=one; gone=x', []],
  ['as after the call', '__Host-a.flash=Added; basket=two', []],
  ['with one written by another tab', 'basket=three; gone=x', ['basket']],
  ['with one deleted by another tab', 'other=1', ['basket']],
  ['with one set by another tab', 'basket=one; gone=y; __Host-a.flash=Other', ['__Host-a.flash', 'gone']],
] as const)('what a call has written is not written again over what others have: %s', ([, cookie, expected]) => {
  expect(rewrittenSince(writtenCookies(SET, 'basket=one; gone=x'), cookie)).toEqual(expected)
})

test('names of cookies are no members of objects', () => {
  const written = JSON.parse(JSON.stringify(writtenCookies(['__proto__=1', 'constructor=2'], undefined))) as never
  expect(rewrittenSince(written, undefined)).toEqual([])
  expect(rewrittenSince(written, 'constructor=3; __proto__=3')).toEqual(['__proto__', 'constructor'])
})
