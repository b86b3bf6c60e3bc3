import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ADDRESSES } from '../../../src/app/site/addresses.ts'
import { nearMatches } from '../../../src/app/site/near-matches.ts'

test.for([
  ['/routes', '/docs/routes'],
  ['/doc/rutes', '/docs/routes'],
  ['/docs/Lodaers', '/docs/loaders'],
  ['/docs/fallback-and-errors', '/docs/fallbacks-and-errors'],
  ['/getting-startet', '/docs/getting-started'],
  ['/docs/testing.html', '/docs/testing'],
  ['/lab/streem', '/lab/stream'],
  ['/lab/guest-book', undefined],
  ['/lab/guestbok', '/lab/guestbook'],
  ['/', undefined],
  ['/docs/lab', undefined],
  ['/wp-login.php', undefined],
  ['/%F0%9F%98%80', undefined],
] as const)('%s may mean %s', ([path, meant]) => {
  expect(nearMatches(path, ADDRESSES)[0]).toBe(meant)
})

test('an address without a page, such as an event stream, is not named', () => {
  expect(nearMatches('/lab/guestbook/event', ADDRESSES)).toEqual(['/lab/guestbook'])
  expect(nearMatches('/lab/feed', ADDRESSES)).toEqual([])
})

test('few are named for any path, and only what may be read of it counts', () => {
  expect(nearMatches('/crash/render/client/late/part/loader', ADDRESSES).length).toBe(4)
  expect(nearMatches(`/${'x/'.repeat(500)}routes`, ADDRESSES)).toEqual([])
  expect(nearMatches(`/${'routes'.repeat(1_000)}`, ADDRESSES)).toEqual([])
})

test('every chapter among the addresses is in the handbook', () => {
  const missing = ADDRESSES.filter(
    (address) => address.startsWith('/docs/') && !existsSync(resolve(import.meta.dirname, `../../..${address}.md`)),
  )
  expect(missing, 'in src/app/site/addresses.ts').toEqual([])
})
