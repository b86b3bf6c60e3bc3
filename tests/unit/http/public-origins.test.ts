import { describe, expect, test } from 'vitest'
import { createPublicOrigins, mainOrigin, someHost } from '../../../src/server/http/public-origins.ts'

const LIST = [
  'https://www.a.test',
  'http://b.test:8080',
  'http://both.test',
  'https://both.test',
  'https://*.shop.test',
]

describe('with configured origins a request is for the one of its host', () => {
  const { configured, originOf } = createPublicOrigins(LIST)

  test.for([
    ['www.a.test', 'https', 'https://www.a.test'],
    ['WWW.a.test', 'https', 'https://www.a.test'],
    // A proxy that speaks TLS for us need not say so.
    ['www.a.test', 'http', 'https://www.a.test'],
    ['www.a.test:443', 'http', 'https://www.a.test'],
    ['www.a.test:80', 'http', undefined],
    ['www.a.test.', 'https', undefined],
    ['x.www.a.test', 'https', undefined],
    ['a.test', 'https', undefined],
    ['b.test:8080', 'http', 'http://b.test:8080'],
    ['b.test', 'http', undefined],
    ['both.test', 'http', 'http://both.test'],
    ['both.test', 'https', 'https://both.test'],
    ['both.test:80', 'https', 'http://both.test'],
    ['one.shop.test', 'http', 'https://one.shop.test'],
    ['One.shop.test:443', 'https', 'https://one.shop.test'],
    ['one.shop.test:8443', 'https', undefined],
    ['one.two.shop.test', 'https', undefined],
    ['shop.test', 'https', undefined],
    ['127.0.0.1:3000', 'http', undefined],
  ] as const)('%s by %s: %s', ([host, protocol, origin]) => {
    expect(configured).toBe(true)
    expect(originOf({ host, protocol })).toBe(origin)
  })
})

test('without any, no host has an origin', () => {
  expect(createPublicOrigins([]).configured).toBe(false)
  expect(createPublicOrigins([]).originOf({ host: 'a.test', protocol: 'http' })).toBeUndefined()
})

test('absolute URLs begin with an origin of one host, and the server finds a host to ask itself by', () => {
  expect(mainOrigin(['https://*.shop.test', 'https://shop.test'])).toBe('https://shop.test')
  expect(mainOrigin(['https://*.shop.test'])).toBeUndefined()
  expect(someHost(['https://*.shop.test', 'https://shop.test:81'])).toBe('shop.test:81')
  expect(someHost([])).toBeUndefined()
  const host = someHost(['https://*.shop.test']) ?? ''
  expect(createPublicOrigins(['https://*.shop.test']).originOf({ host, protocol: 'http' })).toBeDefined()
})
