import { describe, expect, test } from 'vitest'
import { keepsSecureCookies } from '../../../src/server/sessions/secure-cookies.ts'

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
