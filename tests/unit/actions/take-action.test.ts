import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readActionSearch } from '../../../src/server/routes/actions/take-action.ts'

test.for([
  ['', '', undefined],
  ['?page=2', '?page=2', undefined],
  ['?_action=abc.3', '', { id: 'abc', form: '3' }],
  ['?page=2&_action=abc.3', '?page=2', { id: 'abc', form: '3' }],
  ['?_action=abc.3&page=2', '?page=2', { id: 'abc', form: '3' }],
  ['?a=%20&_action=abc&b=', '?a=%20&b=', { id: 'abc', form: '' }],
  ['?my_action=abc', '?my_action=abc', undefined],
  ['?_action=', '', { id: '', form: '' }],
  ['?_action=a.b.c', '', { id: 'a', form: '' }],
  ['?_action=a.1234567', '', { id: 'a', form: '' }],
  // Of two, one may be of a link by a stranger; no page sees either.
  ['?_action=a.1&_action=b.2', '', { id: '', form: '' }],
  ['?_action=a&b=1&_m=&_action=a', '?b=1&_m=', { id: '', form: '' }],
  ['?_action=a&my_action=b', '?my_action=b', { id: 'a', form: '' }],
] as const)('the query %j is the page %j with the call %j', ([search, rest, target]) => {
  expect(readActionSearch(search)).toEqual(target === undefined ? { search: rest } : { search: rest, target })
})

test('a page never meets a parameter of the runtime, and loses none of its own', () => {
  const pair = fc.stringMatching(/^[a-z_]{0,8}=[\w%.]{0,8}$/)
  fc.assert(
    fc.property(fc.array(pair), fc.nat(), (pairs, at) => {
      const own = pairs.filter((one) => !one.startsWith('_action='))
      const all = own.toSpliced(at % (own.length + 1), 0, '_action=abc.1')
      expect(readActionSearch(`?${all.join('&')}`)).toEqual({
        search: own.length === 0 ? '' : `?${own.join('&')}`,
        target: { id: 'abc', form: '1' },
      })
    }),
  )
})
