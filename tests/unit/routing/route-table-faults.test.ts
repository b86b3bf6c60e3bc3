import { describe, expect, it } from 'vitest'
import type { RouteDefinitions } from '../../../src/shared/route-definition.ts'
import { RouteTableError, type RouteTableFault } from '../../../src/shared/route-table-error.ts'
import { validateRouteTable } from '../../../src/shared/route-table-faults.ts'

const page = () => Promise.resolve({})
const handler = page
const layout = page
const loader = page
const layoutLoader = page
const guard = page

const nine = Object.fromEntries(Array.from('abcdefghi', (name) => [name, () => 'x']))

function faultOf(definitions: RouteDefinitions): RouteTableError | undefined {
  try {
    validateRouteTable(definitions)
  } catch (error) {
    if (error instanceof RouteTableError) return error
    throw error
  }
  return undefined
}

describe('lists of params', () => {
  const locale = ['en', 'de']
  it.each<[string, RouteDefinitions, RouteTableFault, string]>([
    ['of a param that is not there', { '/[locale]': { params: { lang: locale }, page } }, 'list-without-param', 'lang'],
    ['of a catch-all', { '/[...locale]': { params: { locale }, page } }, 'list-without-param', '[locale]'],
    ['without values', { '/[locale]': { params: { locale: [] }, page } }, 'bad-list', 'locale'],
    ['with an empty text', { '/[locale]': { params: { locale: ['en', ''] }, page } }, 'bad-list', 'locale'],
    ['that is a text', { '/[locale]': { params: { locale: 'en' as never }, page } }, 'bad-list', 'locale'],
    [
      'that differ at one place',
      { '/(a)/[locale]': { params: { locale }, page }, '/(b)/[locale]/x': { params: { locale: ['en'] }, page } },
      'different-lists',
      '/(b)/[locale]/x',
    ],
    [
      'above no page',
      { '/(a)/[locale]': { params: { locale }, layout }, '/(b)/[locale]/x': { page } },
      'list-without-route',
      '/(a)/[locale]',
    ],
  ])('%s', (_, definitions, kind, names) => {
    const fault = faultOf(definitions)
    expect(fault?.kind).toBe(kind)
    expect(fault?.message).toContain(names)
  })

  it('that are equal may be written on several entries, and beside entries without', () => {
    const sound = {
      '/(a)/[locale]': { params: { locale }, page },
      '/(b)/[locale]/x': { params: { locale: ['de', 'en'] }, page },
      '/(c)/[locale]/y': { linked: false, page },
      '/help/[locale]': { page },
    }
    expect(faultOf(sound)).toBeUndefined()
  })
})

describe('patterns that can never be what was meant', () => {
  it.each<[pattern: string, kind: RouteTableFault]>([
    ['lab', 'missing-leading-slash'],
    ['', 'missing-leading-slash'],
    ['[id]', 'missing-leading-slash'],
    ['/lab/', 'trailing-slash'],
    ['/(site)/', 'trailing-slash'],
    ['//', 'empty-segment'],
    ['/lab//x', 'empty-segment'],
    ['/lab/./x', 'dot-segment'],
    ['/lab/..', 'dot-segment'],
    ['/lab/%2E%2e', 'dot-segment'],
    ['/a\nb', 'unreachable-character'],
    ['/a%00', 'unreachable-character'],
    ['/a%7f', 'unreachable-character'],
    ['/a\ud800', 'unreachable-character'],
    ['/search?q=[q]', 'bad-brackets'],
    ['/search?q', 'search-in-pattern'],
    ['/a#b', 'search-in-pattern'],
    ['/()', 'bad-group'],
    ['/(a', 'bad-group'],
    ['/(a)b', 'bad-group'],
    ['/(.)photo', 'bad-group'],
    ['/(..)', 'bad-group'],
    ['/(.)[id]', 'bad-group'],
    ['/((a))', 'bad-group'],
    ['/([id])', 'bad-group'],
    ['/a[id]', 'bad-brackets'],
    ['/[id].html', 'bad-brackets'],
    ['/[a][b]', 'bad-brackets'],
    ['/[id', 'bad-brackets'],
    ['/id]', 'bad-brackets'],
    ['/[...[x]]', 'bad-brackets'],
    ['/[a[b]', 'bad-brackets'],
    ['/[[]]', 'optional-param-unsupported'],
    ['/[[...]]', 'empty-param-name'],
    ['/[[…x]]', 'ellipsis-character'],
    ['/[a…b]', 'ellipsis-character'],
    ['/[..x]', 'bad-periods'],
    ['/_m', 'reserved-path'],
    ['/_m/x', 'reserved-path'],
    ['/(g)/_m/[x]', 'reserved-path'],
    ['/%5Fm/x', 'reserved-path'],
    ['/healthz', 'reserved-path'],
    ['/(g)/readyz', 'reserved-path'],
    ['/[a]/(g)/[a]', 'repeated-slug'],
    ['/[a]/b/[...a-]', 'slug-differs-by-punctuation'],
    ['/[...a]/(g)/b', 'catch-all-not-last'],
  ])('%j: %s', (pattern, kind) => {
    const fault = faultOf({ '/': { page }, [pattern]: { page } })
    expect(fault?.kind).toBe(kind)
    expect(fault?.patterns).toEqual([pattern])
    expect(fault?.message).toContain(`'${pattern}'`)
  })

  it.each([
    '/a(b)',
    '/wiki/Rome_(city)',
    '/(site)/(wide)/x',
    '/[...a]/(g)',
    '/.well-known/x',
    '/...',
    '/@me',
    '/a+b*',
    '/healthz/x',
    '/[healthz]',
    '/m/_m',
    '/%5Fprivate',
    '/é',
    '/[é]',
    '/[a.b]',
  ])('%s is accepted', (pattern) => {
    expect(faultOf({ '/': { layout }, [pattern]: { page } })).toBeUndefined()
  })
})

describe('routes that do not go together', () => {
  it.each<[keys: readonly [string, string], kind: RouteTableFault]>([
    [['/(a)/x', '/(b)/x'], 'ambiguous'],
    [['/(a)', '/'], 'ambiguous'],
    [['/é', '/%C3%A9'], 'ambiguous'],
    [['/(a)/[id]', '/(b)/[pid]'], 'ambiguous'],
    [['/(a)/team/[id]', '/team/[team]/members'], 'different-slug-names'],
    [['/[a]/[...x]', '/[b]/[...y]'], 'ambiguous'],
    [['/[a]/x/[...r]', '/[b]/y'], 'different-slug-names'],
    [['/(a)/docs', '/(b)/docs/[[...slug]]'], 'optional-catch-all-conflict'],
    [['/(home)', '/[[...slug]]'], 'optional-catch-all-conflict'],
    [['/[a]', '/[a]/[[...slug]]'], 'optional-catch-all-conflict'],
    [['/(a)/d/[...x]', '/(b)/d/[[...y]]'], 'two-catch-alls'],
  ])('%j: %s, whatever their order', (keys, kind) => {
    for (const [first, second] of [keys, keys.toReversed()] as [string, string][]) {
      const fault = faultOf({ [first]: { page }, [second]: { handler } })
      expect(fault?.kind).toBe(kind)
      expect(fault?.patterns.toSorted()).toEqual(keys.toSorted())
      for (const key of keys) expect(fault?.message).toContain(`'${key}'`)
    }
  })

  it('a layout under another name than its pages is found, because it would silently stand around nothing', () => {
    expect(faultOf({ '/team/[id]': { layout }, '/team/[team]/members': { page } })?.kind).toBe('different-slug-names')
    expect(faultOf({ '/team/[id]': { layout }, '/team/[team]': { page } })?.kind).toBe('different-slug-names')
  })

  it('a layout stands beside an optional catch-all and in two groups, because it is no URL', () => {
    expect(faultOf({ '/docs': { layout }, '/docs/[[...slug]]': { page } })).toBeUndefined()
    expect(faultOf({ '/(a)/lab': { layout }, '/(b)/lab': { layout, page } })).toBeUndefined()
    expect(faultOf({ '/a%2Fb': { page }, '/a/b': { page } })).toBeUndefined()
  })
})

describe('entries whose modules do not go together', () => {
  it.each<[bring: RouteDefinitions[string], kind: RouteTableFault]>([
    [{ page, handler }, 'page-and-handler'],
    [{ loader }, 'loader-without-page'],
    [{ loader, handler }, 'loader-without-page'],
    [{ loader, layout }, 'loader-without-page'],
    [{ layoutLoader, page }, 'layout-loader-without-layout'],
  ])('%o: %s', (definition, kind) => {
    const fault = faultOf({ '/x': definition })
    expect(fault?.kind).toBe(kind)
    expect(fault?.message).toContain("'/x'")
  })

  it.each(['layoutloader', 'guards', 'toString'])(
    'a member called %s is refused, because it would never run',
    (name) => {
      const fault = faultOf({ '/x': { page, layout, [name]: loader } })
      expect(fault?.kind).toBe('unknown-member')
      expect(fault?.message).toMatch(`'/x': an entry has no member '${name}'`)
      expect(fault?.message).toContain('layoutLoader, page, loader, handler')
    },
  )

  it.each<[routes: RouteDefinitions, fault: RouteTableFault | undefined]>([
    [{ '/x': { guard } }, 'guard-without-route'],
    [{ '/x': { guard, layout }, '/(site)/x/y': { page } }, 'guard-without-route'],
    [{ '/x': { guard }, '/xy': { page } }, 'guard-without-route'],
    [{ '/x': { guard, page } }, undefined],
    [{ '/x': { guard }, '/x/(site)/y': { handler } }, undefined],
    [{ '/(site)': { guard }, '/(site)/x': { page } }, undefined],
    [{ '/': { guard }, '/x/[[...rest]]': { page } }, undefined],
  ])('a guard with nothing below it is found, because it would guard nothing: %o', (routes, kind) => {
    expect(faultOf(routes)?.kind).toBe(kind)
  })

  it.each<[routes: RouteDefinitions, fault: RouteTableFault | undefined]>([
    [{ '/x': { page, cache: 'private' as never } }, 'bad-cache'],
    [{ '/x': { page, cache: true as never } }, 'bad-cache'],
    [{ '/x': { cache: 'shared', layout }, '/x/y': { page } }, 'shared-without-page'],
    [{ '/x': { cache: 'shared', handler } }, 'shared-without-page'],
    [{ '/x': { cache: 'shared', page, guard } }, 'shared-behind-guard'],
    [{ '/': { guard }, '/(site)/x': { cache: 'shared', page } }, 'shared-behind-guard'],
    [{ '/x': { guard, page }, '/y': { cache: 'shared', page } }, undefined],
    [{ '/x': { cache: 'shared', page, variants: { language: () => 'de' } } }, undefined],
    [{ '/x': { page, variants: { language: () => 'de' } } }, 'bad-variants'],
    [{ '/x': { cache: 'shared', page, variants: {} } }, 'bad-variants'],
    [{ '/x': { cache: 'shared', page, variants: null as never } }, 'bad-variants'],
    [{ '/x': { cache: 'shared', page, variants: { language: 'de' as never } } }, 'bad-variants'],
    [{ '/x': { cache: 'shared', page, variants: { 'a b': () => 'de' } } }, 'bad-variants'],
    [{ '/x': { cache: 'shared', page, variants: nine } }, 'bad-variants'],
  ])('a page that cannot be the same for all is found: %o', (routes, kind) => {
    expect(faultOf(routes)?.kind).toBe(kind)
  })

  const early = { shell: 'early', page, loader } as const
  const loading = page
  it.each<[RouteDefinitions, RouteTableFault | undefined, string]>([
    [{ '/x': { ...early, loading, shell: 'late' as never } }, 'bad-shell', '"late"'],
    [{ '/x': { shell: 'early', loading, page } }, 'early-without-loader', 'a page with a loader'],
    [{ '/x': { shell: 'early', loading, layout }, '/x/y': { page } }, 'early-without-loader', '/x'],
    [{ '/x': { ...early, loading, cache: 'shared' } }, 'early-and-shared', 'Remove one of the two'],
    [{ '/x': { ...early, loading, guard } }, 'early-behind-guard', 'the guard decides'],
    [{ '/': { guard }, '/(site)/x': { ...early, loading } }, 'early-behind-guard', "'/' and '/(site)/x'"],
    [{ '/x': early }, 'early-without-loading', 'no entry has one'],
    [{ '/': { loading }, '/x': { ...early, layout } }, 'early-without-loading', "the layout of '/x' is inside"],
    [{ '/': { loading, layout }, '/x': early }, undefined, ''],
    [{ '/': { layout }, '/x': { ...early, layout, loading } }, undefined, ''],
    [{ '/x': { ...early, loading }, '/x/y': { guard, page } }, undefined, ''],
  ])('a page that cannot be sent before its loader is done is found: %o', (routes, kind, said) => {
    const fault = faultOf(routes)
    expect([fault?.kind, fault?.message ?? '']).toEqual([kind, expect.stringContaining(said)])
  })

  it('a page with its loader in a layout with its own is accepted', () => {
    expect(faultOf({ '/x': { page, loader, layout, layoutLoader } })).toBeUndefined()
  })
})

it('the message names both culprits as written, the rule and the way out', () => {
  const fault = faultOf({ '/(a)/team/[id]': { page }, '/team/[team]/members': { page } })
  expect(fault?.message).toBe(
    "Route table: '/(a)/team/[id]' and '/team/[team]/members': they name the same position 'id' and 'team', " +
      'and a position has one name. Rename one of the two params.',
  )
})
