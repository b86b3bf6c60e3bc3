import { describe, expect, test } from 'vitest'
import { isSameOriginCall } from '../../../src/server/request/same-origin.ts'

const OURS = ['https://good.test', 'https://shop.test:8443']
type Row = readonly [site: string | undefined, origin: string | undefined, passes: boolean]

describe('with configured origins only that of the request may call', () => {
  test.for([
    [undefined, 'https://good.test', true],
    [undefined, 'https://good.test:443', true],
    [undefined, 'https://shop.test:8443', false],
    ['same-origin', 'https://shop.test:8443', false],
    ['same-origin', 'https://good.test', true],
    ['none', 'https://good.test', true],
    [undefined, 'http://good.test', false],
    [undefined, 'https://good.test:444', false],
    [undefined, 'https://shop.test', false],
    [undefined, 'https://evilgood.test', false],
    [undefined, 'https://good.test.evil.test', false],
    [undefined, 'https://GOOD.test.', false],
    [undefined, 'https://good.test.', false],
    [undefined, 'https://good.test/', false],
    [undefined, 'https://good.test@evil.test', false],
    [undefined, 'https://good.test, https://evil.test', false],
    [undefined, 'https://good.test,https://good.test', false],
    [undefined, 'https://evil.test', false],
    [undefined, 'https://*.test', false],
    [undefined, '', false],
    ['same-origin', 'https://evil.test', false],
    ['same-origin', 'https://inside.test', false],
  ] as readonly Row[])('Sec-Fetch-Site %s, Origin %s: %s', ([secFetchSite, origin, passes]) => {
    expect(isSameOriginCall({ secFetchSite, origin, host: 'good.test', protocol: 'https' }, OURS)).toBe(passes)
  })

  test.for([
    ['shop.test:8443', 'https://shop.test:8443', true],
    ['SHOP.test:8443', 'https://shop.test:8443', true],
    ['shop.test:8443', 'https://good.test', false],
    ['good.test:443', 'https://good.test', true],
    ['a.many.test', 'https://a.many.test', true],
    ['a.many.test', 'https://b.many.test', false],
    ['a.many.test', 'https://good.test', false],
    ['*.many.test', 'https://b.many.test', false],
    ['inside.test', 'https://good.test', false],
  ] as const)('Host %s, Origin %s: %s', ([host, origin, passes]) => {
    // A proxy speaks TLS.
    const call = { secFetchSite: undefined, origin, host, protocol: 'http' } as const
    expect(isSameOriginCall(call, [...OURS, 'https://*.many.test'])).toBe(passes)
  })
})

describe('without configured origins a page of this very host may call', () => {
  test.for([
    [undefined, 'http://a.test:3000', true],
    ['none', 'http://a.test:3000', true],
    // A proxy may speak TLS, and say nothing of its port.
    ['same-origin', 'https://a.test', true],
    ['same-origin', 'https://A.TEST:8443', true],
    ['same-origin', 'https://evil.test', false],
    ['same-origin', 'http://a.test.evil.test:3000', false],
    ['same-origin', 'http://b.a.test:3000', false],
    ['same-origin', 'http://a.test:3000/', false],
    ['same-origin', '', false],
    [undefined, 'https://a.test:3000', false],
    ['none', 'https://a.test:3000', false],
    [undefined, 'http://a.test', false],
    [undefined, 'http://a.test:30000', false],
    [undefined, 'http://b.a.test:3000', false],
    [undefined, 'http://a.test.:3000', false],
    [undefined, 'http://evil.test', false],
  ] as readonly Row[])('Sec-Fetch-Site %s, Origin %s: %s', ([secFetchSite, origin, passes]) => {
    expect(isSameOriginCall({ secFetchSite, origin, host: 'a.test:3000', protocol: 'http' }, [])).toBe(passes)
  })

  test('a default port is no other origin', () => {
    const call = { secFetchSite: undefined, protocol: 'http', origin: 'http://a.test' } as const
    expect(isSameOriginCall({ ...call, host: 'a.test:80' }, [])).toBe(true)
    expect(isSameOriginCall({ ...call, host: 'A.test' }, [])).toBe(true)
  })

  test('a host with a star stands for no other host', () => {
    const call = { secFetchSite: undefined, origin: 'http://b.test', host: '*.test', protocol: 'http' } as const
    expect(isSameOriginCall(call, [])).toBe(false)
    expect(isSameOriginCall({ ...call, secFetchSite: 'same-origin' }, [])).toBe(false)
  })
})

describe.for([[], OURS])('whatever is configured (%j)', (origins) => {
  test.for([
    [undefined, undefined, true],
    ['same-origin', undefined, true],
    ['none', undefined, true],
    ['cross-site', undefined, false],
    ['same-site', undefined, false],
    ['', undefined, false],
    ['Same-Origin', undefined, false],
    ['same-origin, cross-site', undefined, false],
    ['same-origin, same-origin', undefined, false],
    ['cross-site', 'https://good.test', false],
    ['same-site', 'https://good.test', false],
    [undefined, 'null', false],
    ['none', 'null', false],
    // As a page with `Referrer-Policy: no-referrer` posts a form.
    ['same-origin', 'null', true],
    ['same-site', 'null', false],
    ['cross-site', 'null', false],
    ['same-origin, same-origin', 'null', false],
    ['same-origin', 'null, null', false],
    ['same-origin', 'NULL', false],
  ] as readonly Row[])('Sec-Fetch-Site %s, Origin %s: %s', ([secFetchSite, origin, passes]) => {
    expect(isSameOriginCall({ secFetchSite, origin, host: 'good.test', protocol: 'https' }, origins)).toBe(passes)
  })

  test('an origin that is listed as null stays refused', () => {
    const call = { secFetchSite: undefined, origin: 'null', host: 'good.test', protocol: 'https' } as const
    expect(isSameOriginCall(call, [...origins, 'null'])).toBe(false)
  })
})
