import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'
import { defineSession } from '../../../src/server/secrets/define-session.ts'
import { keepsSecureCookies } from '../../../src/server/secrets/secure-cookies.ts'
import { browserJar } from './browser-jar.ts'

const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15'
const OTHERS = {
  'Chrome on iOS':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1',
  Chrome: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Chrome without a window':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36',
  Firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  curl: 'curl/8.16.0',
}

const over = (protocol: 'http' | 'https', host: string) => ({ address: '', protocol, host })

describe('whether a Secure cookie is kept', () => {
  test.for([
    ['localhost', false],
    ['LOCALHOST:3000', false],
    ['shop.localhost:3000', false],
    ['127.0.0.1:3000', false],
    ['127.8.8.8', false],
    ['[::1]:3000', false],
    ['[::1]', false],
    ['shop.test', true],
    ['localhost.shop.test', true],
    ['notlocalhost', true],
    ['127.0.0.1.shop.test', true],
    ['10.0.0.5:3000', true],
    ['[::2]', true],
    ['', true],
  ] as const)('by Safari, of http://%s: %s', ([host, kept]) => {
    expect(keepsSecureCookies(over('http', host), SAFARI)).toBe(kept)
  })

  test('by Safari, of a site that visitors reach by https', () => {
    expect(keepsSecureCookies(over('https', 'localhost'), SAFARI)).toBe(true)
    expect(keepsSecureCookies({ ...over('http', 'localhost'), secure: true }, SAFARI)).toBe(true)
  })

  test.for([
    ['Chrome on iOS', false],
    ['Chrome', true],
    ['Chrome without a window', true],
    ['Firefox', true],
    ['curl', true],
  ] as const)('by %s, of http://localhost: %s', ([name, kept]) => {
    expect(keepsSecureCookies(over('http', 'localhost:3000'), OTHERS[name])).toBe(kept)
  })

  test('by who does not say what it is', () => {
    expect(keepsSecureCookies(over('http', 'localhost'), undefined)).toBe(true)
  })
})

test('a session is another cookie, without what it would be dropped for, where the browser keeps no Secure cookies', async () => {
  const browser = browserJar(createSecrets(['a key for these tests, long enough'], () => 1_750_000_000_000))
  const sessions = defineSession({ schema: z.object({ user: z.string() }) }, () => 1_750_000_000_000)
  const mill = { user: 'mill' }
  const context = browser.request({ secureCookies: false })
  const session = await sessions.open(context)
  await session.set(mill)
  await session.flash('Welcome')
  expect(context.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^session=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(/^session\.flash=[\w.-]+; Max-Age=300; Path=\/; HttpOnly; SameSite=Lax$/),
  ])
  browser.receive(context)
  const again = await sessions.open(browser.request({ secureCookies: false }))
  expect([again.data, again.takeFlash()]).toEqual([mill, 'Welcome'])
  // Whoever can set such a cookie for a secure site has set nothing: not by this name, and not by the other.
  expect((await sessions.open(browser.request())).data).toBeUndefined()
  browser.cookies.set('__Host-session', browser.cookies.get('session') ?? '')
  expect((await sessions.open(browser.request())).data).toBeUndefined()
})
