import { describe, expect, test } from 'vitest'
import type { FallbackModule, Metadata } from '../../../src/client/module-types.ts'
import { createModuleCache } from '../../../src/client/react/module-cache.ts'
import { findBoundary } from '../../../src/client/react/find-boundary.ts'
import {
  leafModule,
  shownChain,
  viewMetadata,
  viewModules,
  type RouteView,
  type ViewSegment,
} from '../../../src/client/react/route-view.ts'

type MetadataSource = Metadata | ((props: never) => Metadata)

const module = (metadata?: MetadataSource) => () => Promise.resolve({ default: () => null, metadata })

function segment(key: string, definition: ViewSegment['definition']): ViewSegment {
  return { key, definition }
}

async function metadataOf(chain: readonly ViewSegment[], rest: Partial<RouteView> = {}): Promise<Metadata> {
  const view: RouteView = { chain, params: {}, search: {}, data: {}, ...rest }
  const modules = createModuleCache()
  await modules.load(viewModules(view))
  return viewMetadata(view, modules)
}

const root = module({ title: { template: '%s | Site', default: 'Site' }, description: 'root', robots: 'all' })

describe('the head of a page', () => {
  test('may depend on the params in a fallback too, such as the language', async () => {
    const missing: FallbackModule = {
      default: () => null,
      metadata: ({ params }) => ({ title: params['locale'] === 'de' ? 'Nicht gefunden' : 'Not found' }),
    }
    const chain = [segment('/[locale]', { notFound: () => Promise.resolve(missing) })]
    const outcome = { kind: 'notFound', at: 0 } as const
    expect(await metadataOf(chain, { params: { locale: 'de' }, outcome })).toMatchObject({ title: 'Nicht gefunden' })
    expect(await metadataOf(chain, { outcome })).toMatchObject({ title: 'Not found' })
  })

  test('takes each field from the deepest segment that has it', async () => {
    const chain = [
      segment('/', { layout: root }),
      segment('/a', { layout: module({ description: 'a', canonical: '/a' }), page: module({ canonical: '/a/page' }) }),
    ]
    expect(await metadataOf(chain)).toEqual({ title: 'Site', description: 'a', canonical: '/a/page', robots: 'all' })
  })

  test('takes what a page does not know from its layout', async () => {
    const unknown: Metadata = { title: undefined, description: undefined, canonical: '/a' }
    const chain = [segment('/', { layout: root }), segment('/a', { page: module(unknown) })]
    expect(await metadataOf(chain)).toEqual({ title: 'Site', description: 'root', canonical: '/a', robots: 'all' })
  })

  test.for([
    ['the page in the template around it', [root], 'Page', 'Page | Site'],
    ['the nearest template alone', [root, module({ title: { template: '%s - A', default: 'A' } })], 'Page', 'Page - A'],
    [
      'the default of a template, without the template around that',
      [root, module({ title: { template: '%s - A', default: 'A' } })],
      undefined,
      'A',
    ],
    ['a text that looks like a replacement, unchanged', [root], '$& $1 %s', '$& $1 %s | Site'],
    ['nothing when nobody gives one', [], undefined, undefined],
  ] as const)('titles %s', async ([, layouts, page, title]) => {
    const chain = layouts.map((layout, at) => segment(`/${at}`, { layout }))
    const leaf = segment('/leaf', { page: module(page === undefined ? {} : { title: page }) })
    expect((await metadataOf([...chain, leaf])).title).toBe(title)
  })

  test('may depend on params, search and data', async () => {
    const page = module(({ params, search, data }: { params: { id: string }; search: object; data: string }) => ({
      title: JSON.stringify([params, search, data]),
    }))
    const chain = [segment('/[id]', { page })]
    const view = { params: { id: '7' }, search: { q: 1 }, data: { '/[id]#page': 'data' } }
    expect((await metadataOf(chain, view)).title).toBe('[{"id":"7"},{"q":1},"data"]')
  })

  test('of a fallback leaves out the refused page and keeps crawlers away', async () => {
    const chain = [
      segment('/', { layout: root, notFound: module({ title: 'Not found' }) }),
      segment('/a', { layout: module({ description: 'secret' }), page: module({ title: 'Secret' }) }),
    ]
    expect(await metadataOf(chain, { outcome: { kind: 'notFound', at: 0 } })).toEqual({
      title: 'Not found | Site',
      description: 'root',
      robots: 'noindex',
    })
  })
})

describe('what is shown', () => {
  const loaders = { layout: module(), page: module(), loading: module(), error: module() }
  const chain = [
    segment('/', { layout: loaders.layout, error: loaders.error }),
    segment('/a', { loading: loaders.loading }),
    segment('/a/b', { page: loaders.page }),
  ]

  test('is every segment, and the page innermost', () => {
    expect(shownChain({ chain })).toEqual(chain)
    expect(leafModule({ chain })).toBe(loaders.page)
    expect(viewModules({ chain })).toEqual([loaders.layout, loaders.loading, loaders.page])
  })

  test('ends at the segment whose fallback stands in the place of the page', () => {
    const outcome = { kind: 'error', at: 0 } as const
    expect(shownChain({ chain, outcome })).toEqual(chain.slice(0, 1))
    expect(viewModules({ chain, outcome })).toEqual([loaders.layout, loaders.error])
  })
})

describe('the fallback', () => {
  const chain = [
    segment('/', { error: module(), notFound: module() }),
    segment('/a', { notFound: module() }),
    segment('/a/b', { forbidden: module() }),
  ]

  test.for([
    ['notFound', 2, 1],
    ['notFound', 1, 1],
    ['notFound', 0, 0],
    ['error', 2, 0],
    ['forbidden', 2, 2],
    ['forbidden', 1, undefined],
    ['unauthorized', 2, undefined],
    ['error', -1, undefined],
    ['error', 99, 0],
  ] as const)('for %s from segment %d is that of segment %s', ([kind, from, at]) => {
    expect(findBoundary(chain, kind, from)).toBe(at)
  })
})
