import { describe, expect, test, vi } from 'vitest'
import { isUnderBasePath, pagePath, withBasePath, withoutBasePath } from '../../../src/shared/base-path.ts'
import { isRuntimePath } from '../../../src/shared/runtime-paths.ts'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'
import { sealedCookieName } from '../../../src/server/secrets/sealed-cookie.ts'

const PATHS = [
  ['/', '/shop'],
  ['/?a=1', '/shop?a=1'],
  ['/#top', '/shop#top'],
  ['/about', '/shop/about'],
  ['/shop', '/shop/shop'],
  ['/shopx', '/shop/shopx'],
  ['/a//b', '/shop/a//b'],
] as const

describe('with the base path /shop', () => {
  test.for(PATHS)('%s is %s in public, and back', ([path, shown]) => {
    vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
    expect(withBasePath(path)).toBe(shown)
    expect(withoutBasePath(shown)).toBe(path)
    expect(isUnderBasePath(shown)).toBe(true)
    expect(isRuntimePath(pagePath(shown))).toBe(false)
  })

  test.for(['//evil.example', '/\\evil.example', 'https://evil.example/', 'mailto:a@b', '?a=1', '#top', 'about', ''])(
    '%s leads where it led',
    (url) => {
      vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
      expect(withBasePath(url)).toBe(url)
    },
  )

  test.for(['/shop//evil.example/a', '/shop///evil.example/a', '/shop/\\evil.example/a'])(
    '%s does not become a URL of another site',
    (path) => {
      vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
      expect(withoutBasePath(path)).toBe('/evil.example/a')
    },
  )

  test('the URL of an imported file has it already', () => {
    vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
    expect(withBasePath('/shop/_m/assets/a.svg')).toBe('/shop/_m/assets/a.svg')
  })

  test.for(['/', '/shopx', '/SHOP', '/%73hop', '/shop%2fa', '//shop', '/sho', '/other'])('%s is no page', (path) => {
    vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
    expect(isUnderBasePath(path)).toBe(false)
    expect(withoutBasePath(path)).toBe(path)
    expect(isRuntimePath(pagePath(path))).toBe(true)
  })
})

test('dots of a base path are no wildcards', () => {
  vi.stubGlobal('MILLRACE_BASE_PATH', '/a.b')
  expect(withoutBasePath('/a.b/c')).toBe('/c')
  expect(isUnderBasePath('/axb/c')).toBe(false)
})

test.for(PATHS)('without one %s is as it is', ([path, other]) => {
  for (const one of [path, other]) {
    expect([withBasePath(one), withoutBasePath(one), pagePath(one)]).toEqual([one, one, one])
  }
})

describe('what applications of one host keep apart', () => {
  test.for([
    ['', '__Host-basket'],
    ['/shop', '__Host-shop~basket'],
    ['/a/b', '__Host-a~b~basket'],
    ['/a.b', '__Host-a.b~basket'],
  ] as const)('the cookie of %s is %s', ([base, name]) => {
    vi.stubGlobal('MILLRACE_BASE_PATH', base)
    expect(sealedCookieName('basket', {})).toBe(name)
    expect(sealedCookieName('basket', { secureCookies: false })).toBe(name.replace('__Host-', ''))
  })

  test('a text that one has signed or encrypted is worth nothing to another with the same keys', async () => {
    const keys = ['a key of at least sixteen characters']
    vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
    const shop = createSecrets(keys)
    const [signed, encrypted] = [shop.sign('form', 'a'), await shop.encrypt('cookie', 'a', 60)]
    expect([shop.verify('form', signed), await shop.decrypt('cookie', encrypted)]).toEqual(['a', 'a'])
    for (const base of ['', '/other']) {
      vi.stubGlobal('MILLRACE_BASE_PATH', base)
      const other = createSecrets(keys)
      expect([other.verify('form', signed), await other.decrypt('cookie', encrypted)]).toEqual([undefined, undefined])
    }
  })
})
