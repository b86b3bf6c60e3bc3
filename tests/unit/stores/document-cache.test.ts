import { describe, expect, test } from 'vitest'
import { createDocumentCache, type DocumentCache } from '../../../src/server/stores/cache/document-cache.ts'
import { SearchUses, type AskedDocument } from '../../../src/server/stores/cache/document-names.ts'
import { createRevalidations } from '../../../src/server/stores/cache/revalidations.ts'

function openCache() {
  const clock = { now: 1_000_000 }
  const revalidations = createRevalidations()
  const data = { revalidations, isHearing: true }
  return { cache: createDocumentCache({ data, openedData: data }, () => clock.now), revalidations, clock }
}

const asked = (page: string, search: Readonly<Record<string, string>> = {}): AskedDocument => ({
  page,
  search,
  queries: [JSON.stringify(search)],
})

function keep(cache: DocumentCache, of: AskedDocument, body: string, uses = new SearchUses()) {
  return cache.keep({
    asked: of,
    uses,
    tags: ['tag'],
    since: cache.now,
    pathname: '/',
    client: 'one',
    document: {
      lifetime: { freshMs: 5_000, staleMs: 10_000 },
      etag: `W/"${body.slice(0, 20)}"`,
      content: () => ({ headers: [], body: Buffer.from(body) }),
    },
  })
}

describe('kept documents', () => {
  test('of ten thousand random paths, queries and hosts stay within the bounds', () => {
    const { cache } = openCache()
    for (let index = 0; index < 10_000; index += 1) {
      const uses = new SearchUses()
      uses.useParam('q')
      keep(cache, asked(`page ${index % 3_000}`, { q: String(index) }), `${index} ${'x'.repeat(20_000)}`, uses)
      cache.refuse(asked(`own ${index}`), new SearchUses(), 'cookie a', 'one')
    }
    expect(cache.stats.entries).toBeLessThanOrEqual(1_000)
    expect(cache.stats.bytes).toBeLessThanOrEqual(16_777_216)
  })

  test('are not found for other params once a crowd of pages has pushed out which params their page reads', () => {
    const { cache } = openCache()
    const [reviews, second] = [asked('shop', { tab: 'reviews' }), asked('shop', { tab: 'reviews', page: '2' })]
    const reads = (...keys: readonly string[]): SearchUses => {
      const uses = new SearchUses()
      uses.add(keys)
      return uses
    }
    keep(cache, reviews, 'first reviews', reads('tab', 'page'))
    for (let index = 0; index < 300; index += 1)
      cache.refuse(asked(`own ${index}`), new SearchUses(), 'cookie a', 'one')
    for (let index = 0; index < 1_000; index += 1) cache.refuse(asked(`${index}`), new SearchUses(), 'cookie a', 'two')
    for (let index = 0; index < 300; index += 1)
      cache.refuse(asked(`more ${index}`), new SearchUses(), 'cookie a', 'one')
    keep(cache, asked('shop'), 'details', reads('tab'))

    expect(cache.find(second)).toBeUndefined()
    expect(cache.find(asked('shop'))).toBeDefined()
  })

  test('are sent stale until they are too old, and not once they are dropped', () => {
    const { cache, revalidations, clock } = openCache()
    keep(cache, asked('a'), 'body')
    clock.now += 15_000
    expect(cache.find(asked('a'))).toMatchObject({ ageMs: 15_000, freshMs: 5_000 })
    clock.now += 1
    expect(cache.find(asked('a'))).toBeUndefined()
    const kept = keep(cache, asked('a'), 'body')
    revalidations.add(['tag'])
    expect([kept?.isDropped, cache.find(asked('a'))]).toEqual([true, undefined])
  })

  test('are made again where the clock was set back behind their making', () => {
    const { cache, clock } = openCache()
    keep(cache, asked('a'), 'body')
    clock.now -= 3_000
    expect(cache.find(asked('a'))).toMatchObject({ ageMs: 0 })
    clock.now -= 3_600_000
    expect(cache.find(asked('a'))).toBeUndefined()
  })

  test('that are too large are given to those who wait, and not kept', () => {
    const { cache } = openCache()
    const kept = keep(cache, asked('a'), 'x'.repeat(1_100_000))
    expect([kept?.isStored, kept?.length, cache.stats.entries]).toEqual([false, 1_100_000, 0])
  })

  test('are compressed once, however many ask at once', async () => {
    const { cache } = openCache()
    keep(cache, asked('a'), 'x'.repeat(5_000))
    const bodies = [cache.find(asked('a')), cache.find(asked('a'))].map((kept) =>
      kept !== undefined && 'body' in kept ? kept.body('br', 'one') : undefined,
    )
    expect(bodies[0]).toBeInstanceOf(Promise)
    expect(bodies[1]).toBe(bodies[0])
    const body = await bodies[0]
    const again = cache.find(asked('a'))
    expect(again !== undefined && 'body' in again && again.body('br', 'two')).toBe(body)
  })

  test('a reason why there is none is forgotten after a minute, and when there is one', () => {
    const { cache, clock } = openCache()
    cache.refuse(asked('a'), new SearchUses(), 'cookie a', 'one')
    expect(cache.find(asked('a'))).toMatchObject({ reason: 'cookie a' })
    clock.now += 60_001
    expect(cache.find(asked('a'))).toBeUndefined()
    cache.refuse(asked('a'), new SearchUses(), 'cookie a', 'one')
    keep(cache, asked('a'), 'body')
    expect(cache.find(asked('a'))).toMatchObject({ isStored: true })
  })
})
