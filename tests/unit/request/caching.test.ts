import { expect, test } from 'vitest'
import { mayBeShared } from '../../../src/server/http/cache-control.ts'
import { cachingOf, NO_STORE, ONE_VISITOR, PRIVATE } from '../../../src/server/request/answer/caching.ts'

// RFC 9111, section 3: a shared cache may keep what is neither `no-store` nor `private`.
const VALUES: readonly (readonly [value: string, shared: boolean])[] = [
  ['public', true],
  ['public, max-age=60', true],
  ['PUBLIC, MAX-AGE=60', true],
  ['s-maxage=60', true],
  ['max-age=60', true],
  ['no-cache', true],
  ['', true],
  ['must-revalidate, max-age=5', true],
  ['private="set-cookie", max-age=60', true],
  ['private', false],
  ['private, private="x"', false],
  ['private="x", private', false],
  ['private=""', false],
  ['no-store=1', false],
  ['Private , max-age=60', false],
  ['private, public', false],
  ['max-age=60,private', false],
  ['no-store', false],
  ['public, NO-STORE', false],
  ['not-private, max-age=60', true],
  ['max-age=60, x-no-store', true],
]
test.for(VALUES)('shared caches and %j: %j', ([value, shared]) => {
  expect(mayBeShared(value)).toBe(shared)
})

const PUBLIC = 'public, max-age=60'
const DECISIONS = [
  ['a failure is for nobody', { status: 500, wanted: PUBLIC }, NO_STORE],
  ['a refusal is for nobody', { status: 404, wanted: PUBLIC }, NO_STORE],
  ['where nothing is asked for, the kind of answer decides', { wanted: undefined }, PRIVATE],
  ['what is asked for is sent', { wanted: PUBLIC }, { value: PUBLIC, shared: true }],
  ['a lifetime alone lets caches share it', { wanted: 'max-age=60' }, { value: 'max-age=60', shared: true }],
  ['a cookie makes it one visitor’s', { wanted: PUBLIC, setsCookie: true }, ONE_VISITOR],
  ['so it does where nothing forbids sharing', { wanted: 'max-age=60', setsCookie: true }, ONE_VISITOR],
  [
    'what is private already stays as it is',
    { wanted: 'private, max-age=9', setsCookie: true },
    { value: 'private, max-age=9', shared: false },
  ],
  ['the page with a form’s state is kept for Back', { answersForm: true, wanted: undefined }, PRIVATE],
  ['so is the one with its faults', { answersForm: true, status: 422, wanted: undefined }, PRIVATE],
  ['whatever may be kept of the page itself', { answersForm: true, wanted: PUBLIC, setsCookie: true }, PRIVATE],
  ['unless nothing of it may be stored', { answersForm: true, status: 422, wanted: 'No-Store' }, ONE_VISITOR],
  ['a failure after a form is for nobody', { answersForm: true, status: 500, wanted: undefined }, NO_STORE],
  ['nor is a refusal after a form', { answersForm: true, status: 403, wanted: PUBLIC }, NO_STORE],
] as const
test.for(DECISIONS)('%s', ([, facts, expected]) => {
  expect(cachingOf({ status: 200, byDefault: PRIVATE, setsCookie: false, ...facts })).toEqual(expected)
})
