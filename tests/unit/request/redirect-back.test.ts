import { afterEach, describe, expect, test } from 'vitest'
import { RedirectSignal } from '../../../src/shared/control-flow.ts'
import { redirectBack } from '../../../src/server/api/redirect-back.ts'

/** Where a request with this `Referer` is sent. */
function back(referer: string | undefined, url = 'https://site.test/theme'): string {
  const request = new Request(url, { method: 'POST', headers: referer === undefined ? {} : { Referer: referer } })
  try {
    return redirectBack(request, '/otherwise')
  } catch (thrown) {
    if (!(thrown instanceof RedirectSignal)) throw thrown
    expect(thrown).toMatchObject({ status: 303, external: false })
    return thrown.to
  }
}

describe('a redirect back leads', () => {
  test.for([
    ['https://site.test/mills/7?order=age', '/mills/7?order=age'],
    ['https://site.test/', '/'],
    ['https://site.test/m%C3%BChle', '/m%C3%BChle'],
    ['https://site.test/mills#wheel', '/mills'],
    ['https://SITE.test:443/mills', '/mills'],
    // A proxy in front speaks TLS.
    ['http://site.test/mills', '/mills'],
    ['https://name:word@site.test/mills', '/mills'],
    // The page of a form that was refused.
    ['https://site.test/mills?a=1&_action=0123456789abcdef.1', '/mills?a=1'],
    ['https://site.test/mills?next=https://evil.test', '/mills?next=https://evil.test'],
  ])('from %s to %s', ([referer, to]) => {
    expect(back(referer)).toBe(to)
  })

  test.for([
    undefined,
    '',
    'null',
    'about:client',
    '/mills',
    '//site.test/mills',
    'https://evil.test/mills',
    'https://evil.test/https://site.test/',
    'https://site.test.evil.test/',
    'https://site.test@evil.test/',
    'https://evil.test\\@site.test/',
    'https://site.test:8443/mills',
    'https://sub.site.test/',
    'https://site.test//evil.test/',
    'https://site.test/\\evil.test/',
    'https://site.test/\t/evil.test',
    'javascript://site.test/%0aalert(1)',
    'data:text/html,x',
    'blob:https://site.test/mills',
    'https://site.test/_m/data/mills',
    'https://site.test/healthz',
    `https://site.test/${'x'.repeat(8_192)}`,
  ])('not to %j, but to what the application says', (referer) => {
    expect(back(referer)).toBe('/otherwise')
  })
})

describe('below a base path', () => {
  afterEach(() => {
    globalThis.MILLRACE_BASE_PATH = undefined
  })

  test.for([
    ['https://site.test/shop/mills?a=1', '/mills?a=1'],
    ['https://site.test/shop', '/'],
    ['https://site.test/shopping', '/otherwise'],
    ['https://site.test/blog', '/otherwise'],
    ['https://site.test/shop//evil.test', '/evil.test'],
    ['https://site.test/shop/_m/build.json', '/otherwise'],
  ])('a redirect back from %s leads to the table’s %s', ([referer, to]) => {
    globalThis.MILLRACE_BASE_PATH = '/shop'
    expect(back(referer)).toBe(to)
  })
})
