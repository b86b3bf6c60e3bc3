import { describe, expect, test } from 'vitest'
import { purposeOf } from '../../../src/server/request/request-kind.ts'
import { createReadiness } from '../../../src/server/process/readiness.ts'
import { isCrawler } from '../../../src/server/routes/render/crawler.ts'
import { createRandomText } from '../../../src/server/http/random-text.ts'
import { UnavailableError } from '../../../src/server/http/unavailable-error.ts'

describe('nonces', () => {
  test('are 128 random bits each or more, and never come twice', () => {
    const sources = [createRandomText('base64'), createRandomText('base64')]
    const nonces = sources.flatMap((next) => Array.from({ length: 1_000 }, next))
    expect(new Set(nonces).size).toBe(2_000)
    for (const nonce of nonces) {
      expect(nonce).toMatch(/^[\w+/]{24}$/)
      expect(Buffer.from(nonce, 'base64')).toHaveLength(18)
    }
    expect(nonces).not.toContain(Buffer.alloc(18).toString('base64'))
  })
})

describe('a client that reads once and runs no script', () => {
  test.for([
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'facebookexternalhit/1.1',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'WhatsApp/2.23.20.0',
    'Twitterbot/1.0',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Baiduspider',
  ])('is %s', (agent) => {
    expect(isCrawler(agent)).toBe(true)
  })

  test.for([
    undefined,
    '',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 Version/26.0 Mobile/15E148 Safari/604.1',
    'curl/8.5.0',
    'node',
    'python-requests/2.32',
    'Go-http-client/1.1',
  ])('is not %s', (agent) => {
    expect(isCrawler(agent)).toBe(false)
  })
})

describe('prefetches', () => {
  test.for([
    [{ 'sec-purpose': 'prefetch' }, 'prefetch'],
    [{ 'sec-purpose': 'prefetch;anonymous-client-ip' }, 'prefetch'],
    [{ purpose: 'prefetch' }, 'prefetch'],
    [{ 'sec-purpose': 'other', purpose: 'preview' }, undefined],
    [{}, undefined],
  ] as const)('are known by %j', ([headers, purpose]) => {
    expect(purposeOf({ headers })).toBe(purpose)
  })
})

describe('an unavailable service', () => {
  test('is worth trying again after whole seconds', () => {
    expect(new UnavailableError().retryAfter).toBeUndefined()
    expect(new UnavailableError('x', { retryAfter: 0.2 })).toMatchObject({ message: 'x', retryAfter: 1 })
  })

  test.for([-1, Number.NaN, Number.POSITIVE_INFINITY])('cannot name %d seconds', (retryAfter) => {
    expect(() => new UnavailableError('x', { retryAfter })).toThrow(RangeError)
  })
})

describe('a server is ready', () => {
  test('from its first page until it is drained', () => {
    const readiness = createReadiness()
    expect(readiness.state()).toBe('starting')
    readiness.markReady()
    expect(readiness.state()).toBe('ready')
    readiness.markDraining()
    expect(readiness.state()).toBe('draining')
  })

  test('never again once it is drained, though a late warm-up says so', () => {
    const readiness = createReadiness()
    readiness.markDraining()
    readiness.markReady()
    expect(readiness.state()).toBe('draining')
  })
})
