import { describe, expect, it } from 'vitest'
import type { RouteDefinitions } from '../../../src/shared/route-definition.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'

const page = () => Promise.resolve({})
const layout = page
const handler = page

function patternFor(definitions: RouteDefinitions, path: string, only?: 'static' | 'dynamic'): string | undefined {
  return createRouteTable(definitions).match(path, only)?.route.pattern
}

describe('which page answers', () => {
  const table = {
    '/lab/params/new': { page },
    '/lab/params/[id]': { page },
    '/lab/[section]/help': { page },
    '/lab/[...rest]': { page },
    '/[[...any]]': { page },
  }

  it.each([
    ['/lab/params/new', '/lab/params/new'],
    ['/lab/params/newer', '/lab/params/[id]'],
    ['/lab/params/help', '/lab/params/[id]'],
    ['/lab/files/help', '/lab/[section]/help'],
    ['/lab/params/7/edit', '/lab/[...rest]'],
    ['/lab/files/helper', '/lab/[...rest]'],
    ['/lab', '/[[...any]]'],
    ['/', '/[[...any]]'],
    ['/elsewhere/deep', '/[[...any]]'],
  ])('%s is answered by %s', (path, pattern) => {
    expect(patternFor(table, path)).toBe(pattern)
  })

  it('a branch that fails further down does not end the search', () => {
    expect(patternFor({ '/a2/[id]/c': { page }, '/[top]/b/d': { page } }, '/a2/b/d')).toBe('/[top]/b/d')
  })

  it.each([
    ['/en', '/[locale]'],
    ['/en/mills', '/[locale]/mills'],
    ['/de/plain', '/[locale]/plain'],
    ['/pt-BR/caf%C3%A9', '/[locale]/[kind]'],
    ['/en/none', '/[locale]/[...rest]'],
    ['/fr', '/[...all]'],
    ['/fr/mills', '/[...all]'],
    ['/fr/plain', '/[...all]'],
    ['/EN', '/[...all]'],
    ['/fr/none', '/[...all]'],
    ['/help/fr', '/help/[locale]'],
  ])('with lists of params, %s is answered by %s', (path, pattern) => {
    const listed = {
      '/(site)/[locale]': { params: { locale: ['en', 'de', 'pt-BR'] }, layout, page },
      '/(site)/[locale]/mills': { page },
      '/(bare)/[locale]/plain': { page },
      '/(site)/[locale]/[kind]': { params: { kind: ['café'] }, page },
      '/(site)/[locale]/[...rest]': { linked: false, page },
      '/help/[locale]': { page },
      '/[...all]': { page },
    }
    expect(patternFor(listed, path)).toBe(pattern)
  })

  it('a param with a list that does not decode has no value of it', () => {
    expect(patternFor({ '/[locale]': { params: { locale: ['en'] }, page } }, '/%zz')).toBeUndefined()
  })

  it('an entry with neither page nor handler is no URL', () => {
    expect(patternFor({ '/': { layout }, '/a': { layout }, '/a/b': { page } }, '/a')).toBeUndefined()
  })

  it.each(['', 'lab', '/lab/', '//lab', '/lab//params/new', '/lab/params//'])(
    'a path that is not normalised, %j, is answered by none',
    (path) => {
      expect(patternFor(table, path)).toBeUndefined()
    },
  )

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    '/%s is no page unless the table says so',
    (name) => {
      expect(patternFor({ '/': { page }, '/a': { page } }, `/${name}`)).toBeUndefined()
      expect(patternFor({ [`/${name}`]: { page } }, `/${name}`)).toBe(`/${name}`)
    },
  )
})

describe('static segments are compared decoded, so a guard and the router see the same page', () => {
  it.each([
    ['/admin', '/%61dmin', true],
    ['/admin', '/%61%64%6D%69%6e', true],
    ['/admin', '/%2561dmin', false],
    ['/admin', '/%41dmin', false],
    ['/a/b', '/a%2Fb', false],
    ['/café', '/caf%C3%A9', true],
    ['/café', '/café', true],
    ['/caf%C3%A9', '/caf%C3%A9', true],
    ['/a b', '/a%20b', true],
    ['/a%2Fb', '/a%2Fb', true],
    ['/a%2Fb', '/a/b', false],
    ['/100%', '/100%25', true],
    ['/100%', '/100%', false],
  ])('%s answers %s: %s', (pattern, path, answers) => {
    expect(patternFor({ [pattern]: { page } }, path)).toBe(answers ? pattern : undefined)
  })

  it('a segment that does not decode is no static one, but may be a value', () => {
    const table = createRouteTable({ '/p/%C3': { page }, '/p/[id]/x': { page }, '/[...all]': { page } })
    expect(table.match('/p/%C3')).toMatchObject({ route: { pattern: '/[...all]' }, error: 'undecodable' })
    expect(table.match('/p/%C3/x')).toMatchObject({ route: { pattern: '/p/[id]/x' }, error: 'undecodable' })
    expect(createRouteTable({ '/a': { page } }).match('/%')).toBeUndefined()
  })
})

describe('params', () => {
  it('have no prototype, so that a missing one is missing and every name is possible', () => {
    const match = createRouteTable({ '/[__proto__]/[[...rest]]': { page } }).match('/1')
    const params = match?.error === undefined ? match?.params : undefined
    expect(params).toBeDefined()
    expect(Object.getPrototypeOf(params)).toBeNull()
    expect(Object.entries(params ?? {})).toEqual([['__proto__', '1']])
  })

  it('are not there when a value does not decode', () => {
    expect(createRouteTable({ '/[a]/[b]': { page } }).match('/1/%zz')).not.toHaveProperty('params')
  })
})

describe('rules look at static and dynamic pages apart', () => {
  const table = {
    '/lab/params/new': { page },
    '/lab/params/[id]': { page },
    '/docs/[[...slug]]': { page },
    '/[...rest]': { page },
  }

  it.each([
    ['/lab/params/new', 'static', '/lab/params/new'],
    ['/lab/params/new', 'dynamic', '/lab/params/[id]'],
    ['/lab/params/7', 'static', undefined],
    ['/lab/params/7', 'dynamic', '/lab/params/[id]'],
    ['/docs', 'static', undefined],
    ['/docs', 'dynamic', '/docs/[[...slug]]'],
    ['/x', 'static', undefined],
    ['/lab/params/new/x', 'dynamic', '/[...rest]'],
  ] as const)('%s among the %s ones: %s', (path, only, pattern) => {
    expect(patternFor(table, path, only)).toBe(pattern)
  })

  it('a route says which of the two it is', () => {
    const { routes } = createRouteTable(table)
    expect(routes.map((route) => [route.pattern, route.dynamic])).toEqual([
      ['/docs/[[...slug]]', true],
      ['/lab/params/new', false],
      ['/lab/params/[id]', true],
      ['/[...rest]', true],
    ])
  })
})

describe('what stands around a page', () => {
  const table = createRouteTable({
    '/(site)/lab/params/[id]': { page },
    '/(site)/lab': { layout, page },
    '/': { layout },
    '/(site)': { layout },
    '/lab': { layout },
    '/(site)/la': { layout },
    '/(bare)/lab/bench': { page },
    '/api/items': { handler },
  })
  const keysAround = (path: string) => table.match(path)?.route.chain.map((entry) => entry.key)

  it('every entry above it by whole segments, groups included, and itself last', () => {
    expect(keysAround('/lab/params/7')).toEqual(['/', '/(site)', '/(site)/lab', '/(site)/lab/params/[id]'])
    expect(keysAround('/lab')).toEqual(['/', '/(site)', '/(site)/lab'])
    expect(keysAround('/lab/bench')).toEqual(['/', '/(bare)/lab/bench'])
    expect(keysAround('/api/items')).toEqual(['/', '/api/items'])
  })

  it('shared entries are the same object, so that a layout can stay mounted', () => {
    const [first, second] = [table.match('/lab')?.route, table.match('/lab/params/7')?.route]
    expect(first?.chain[1]).toBe(second?.chain[1])
    expect(first?.chain[0]).toBe(table.root)
  })

  it('the root entry stands alone for URLs that nothing answers', () => {
    expect(table.root?.key).toBe('/')
    expect(createRouteTable({ '/a': { page } }).root).toBeUndefined()
    expect(
      createRouteTable({ '/': { page } })
        .match('/')
        ?.route.chain.map((entry) => entry.key),
    ).toEqual(['/'])
  })

  it('groups are no part of the URL, and a handler is told from a page', () => {
    expect(table.routes.map((route) => [route.pattern, route.key, route.kind])).toEqual([
      ['/api/items', '/api/items', 'handler'],
      ['/lab', '/(site)/lab', 'page'],
      ['/lab/bench', '/(bare)/lab/bench', 'page'],
      ['/lab/params/[id]', '/(site)/lab/params/[id]', 'page'],
    ])
    expect(createRouteTable({ '/(site)': { page } }).match('/')?.route.key).toBe('/(site)')
  })
})

describe('hostile paths', () => {
  it('thousands of segments are matched and refused without a stack overflow', () => {
    const path = '/a'.repeat(100_000)
    const pattern = `${'/a'.repeat(500)}/[x]`
    const table = createRouteTable({ '/a/[...rest]': { page }, [pattern]: { page } })
    expect(table.match(path)).toMatchObject({ route: { pattern: '/a/[...rest]' } })
    expect(createRouteTable({ [pattern]: { page } }).match(path)).toBeUndefined()
  })
})
