import { array, assert, boolean, constant, constantFrom, integer, oneof, property, record, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  EMPTY_CACHE,
  ENTRY_LIFETIME_MS,
  entryState,
  matchesTarget,
  MAX_ENTRIES,
  MAX_SIZE,
  reduceRouteCache,
  REUSE_WINDOW_MS,
} from '../../../src/client/core/data/route-cache.ts'
import type { CacheEntry, CacheEvent, RouteCache } from '../../../src/client/core/data/route-cache.ts'
import { revalidationTarget } from '../../../src/shared/revalidation-path.ts'

const NOW = 1_000_000

function entry(members: Partial<CacheEntry> = {}): CacheEntry {
  return {
    value: {},
    receivedAt: NOW,
    lifetimeMs: ENTRY_LIFETIME_MS,
    shown: false,
    tags: [],
    path: '/',
    size: 10,
    ...members,
  }
}

function run(...events: readonly CacheEvent[]): RouteCache {
  return events.reduce(reduceRouteCache, EMPTY_CACHE)
}

function receive(key: string, members: Partial<CacheEntry> = {}, now = NOW): CacheEvent {
  return { type: 'receive', key, entry: entry(members), now }
}

function keysOf(cache: RouteCache): string[] {
  return [...cache.entries.keys()]
}

describe('what an entry may be used for', () => {
  test.each([
    [0, 60_000, 'fresh', 'reusable'],
    [60_000, 60_000, 'fresh', 'reusable'],
    [60_001, 60_000, 'stale', 'stale'],
    [300_000, 60_000, 'stale', 'stale'],
    [300_001, 60_000, 'expired', 'expired'],
    [-1, 60_000, 'fresh', 'reusable'],
    [-1e12, 60_000, 'fresh', 'reusable'],
    [1000, 1000, 'fresh', 'reusable'],
    [1001, 1000, 'stale', 'stale'],
    [300_001, 1000, 'expired', 'expired'],
    [300_001, 3_600_000, 'fresh', 'reusable'],
    [3_600_000, 3_600_000, 'fresh', 'reusable'],
    [3_600_001, 3_600_000, 'expired', 'expired'],
    [1e15, Infinity, 'fresh', 'reusable'],
    [NaN, 60_000, 'expired', 'expired'],
  ])('%d ms old with a lifetime of %d ms: %s, or %s once shown', (age, lifetimeMs, unseen, seen) => {
    const receivedAt = NOW - age
    expect(entryState({ receivedAt, lifetimeMs, shown: false }, NOW)).toBe(unseen)
    expect(entryState({ receivedAt, lifetimeMs, shown: true }, NOW)).toBe(seen)
  })

  test('an entry only ever grows older', () => {
    const order = ['fresh', 'stale', 'expired']
    const time = integer({ min: 0, max: 400_000 })
    assert(
      property(time, time, time, (lifetimeMs, one, other) => {
        const [early, late] = [Math.min(one, other), Math.max(one, other)].map((now) =>
          order.indexOf(entryState({ receivedAt: 0, lifetimeMs, shown: false }, now)),
        )
        expect(late).toBeGreaterThanOrEqual(early ?? NaN)
      }),
    )
  })
})

describe('what revalidate names', () => {
  test.each([
    ['/lab', '/lab', true],
    ['/lab/a', '/lab', false],
    ['/', '/', true],
    ['/lab', '/', false],
    ['/lab', '/lab/*', true],
    ['/lab/a', '/lab/*', true],
    ['/lab/a/b', '/lab/*', true],
    ['/labour', '/lab/*', false],
    ['/', '/lab/*', false],
    ['/', '/*', true],
    ['/lab/a', '/*', true],
    ['/lab*', '/lab*', true],
    ['/labour', '/lab*', false],
    ['/LAB', '/lab', false],
    ['/u/%C3%A9', '/u/é', true],
    ['/u/%c3%a9', '/u/%C3%A9', true],
    ['/u/%40ann', '/u/@ann', true],
    ['/u/a%20b/c', '/u/a b/*', true],
    ['/u/a%2Fb', '/u/a/b', false],
    ['/u/%E9', '/u/é', false],
    ['/u/%2A', '/u/*', true],
    ['/u/a', '/u/%2A', false],
    ['/lab', '/lab/', true],
    ['/lab', '/lab?page=2#top', true],
    ['/', '/?page=2', true],
    ['/lab/a', '/lab//*', true],
    [`/lab/${'a'.repeat(200)}`, `/lab/${'a'.repeat(200)}`, true],
    [`/lab/${'a'.repeat(200)}/b`, `/lab/${'a'.repeat(200)}/*`, true],
    [`/lab/${'a'.repeat(200)}`, `/lab/${'a'.repeat(199)}b`, false],
    ['/', `/${'a'.repeat(9_000)}`, false],
    ['/', `/${'a'.repeat(9_000)}/*`, false],
  ])('the data of %s by the path %s: %s', (path, target, expected) => {
    expect(matchesTarget({ path, tags: [] }, [target])).toBe(expected)
  })

  test.each([
    [['post'], 'post', true],
    [['posts'], 'post', false],
    [['post:1', 'post:2'], 'post:2', true],
    [['post/*'], 'post/1', false],
    [[], '', false],
    [['*'], '*', true],
    [['/news'], '/news', false],
    [['a'.repeat(200)], 'a'.repeat(200), true],
    [['a'.repeat(200)], `${'a'.repeat(199)}b`, false],
    [[revalidationTarget('a'.repeat(200))], 'a'.repeat(200), true],
  ])('data tagged %j by the tag %j: %s', (tags, target, expected) => {
    expect(matchesTarget({ path: '/post', tags }, [target])).toBe(expected)
  })

  test('one target of several is enough, and none names nothing', () => {
    expect(matchesTarget({ path: '/a', tags: ['x'] }, ['/b', 'x'])).toBe(true)
    expect(matchesTarget({ path: '/a', tags: ['x'] }, ['/b', 'y'])).toBe(false)
    expect(matchesTarget({ path: '/a', tags: ['x'] }, [])).toBe(false)
  })

  test('an action drops what it names at once, and leaves the rest', () => {
    const cache = run(receive('a', { tags: ['x'] }), receive('b', { path: '/b/c' }), receive('c', { tags: ['y'] }))
    expect(keysOf(reduceRouteCache(cache, { type: 'revalidate', targets: ['x', '/b/*'] }))).toEqual(['c'])
    expect(reduceRouteCache(cache, { type: 'revalidate', targets: ['z'] })).toBe(cache)
  })
})

describe('revalidation behind a page on the screen', () => {
  test('nothing changed: the page keeps the value it shows, and the entry lives on', () => {
    const before = run(receive('a', { content: '7', value: { n: 1 } }), { type: 'show', keys: ['a'] })
    const shown = before.entries.get('a')
    const later = NOW + 100_000
    const after = reduceRouteCache(
      before,
      receive('a', { content: '7', value: { n: 1 }, receivedAt: later, lifetimeMs: 5, tags: ['t'] }, later),
    )
    expect(after.entries.get('a')?.value).toBe(shown?.value)
    expect(after.entries.get('a')).toMatchObject({ shown: true, receivedAt: later, lifetimeMs: 5, tags: ['t'] })
  })

  test.each([
    ['something changed', { content: '7' }, { content: '8' }],
    ['the content is not known yet', { content: '7' }, {}],
    ['the content of before was never known', {}, { content: '7' }],
    ['neither is known', {}, {}],
  ])('%s: the new value stands, and has not been shown', (_title, old, recent) => {
    const value = { n: 2 }
    const cache = run(receive('a', old), { type: 'show', keys: ['a'] }, receive('a', { ...recent, value }))
    expect(cache.entries.get('a')?.value).toBe(value)
    expect(cache.entries.get('a')?.shown).toBe(false)
    expect(cache.size).toBe(10)
  })
})

test('data that came with the document is on the screen from the start', () => {
  const cache = run(receive('a', { content: '7' }), receive('a', { content: '7', shown: true }))
  expect(cache.entries.get('a')?.shown).toBe(true)
})

describe('what is not stored', () => {
  test.each([
    ['no-store', { lifetimeMs: 0 }],
    ['a lifetime below zero', { lifetimeMs: -1 }],
    ['a lifetime that is no number', { lifetimeMs: NaN }],
    ['more than all may take together', { size: MAX_SIZE + 1 }],
    ['an answer older than the reuse window', { receivedAt: NOW - REUSE_WINDOW_MS - 1 }],
  ])('%s: and what was there before is out of date', (_title, members) => {
    const cache = run(receive('a'), receive('b'))
    expect(keysOf(reduceRouteCache(cache, receive('a', members)))).toEqual(['b'])
    expect(reduceRouteCache(cache, receive('c', members))).toBe(cache)
  })
})

describe('bounds', () => {
  test('a visit of 501 pages keeps the last 500', () => {
    const events = Array.from({ length: MAX_ENTRIES + 1 }, (_, index) => receive(String(index)))
    const cache = run(...events)
    expect(cache.entries.size).toBe(MAX_ENTRIES)
    expect(cache.entries.has('0')).toBe(false)
    expect(cache.entries.has('1')).toBe(true)
    expect(cache.size).toBe(10 * MAX_ENTRIES)
  })

  test('what is shown again outlives what is not', () => {
    const size = MAX_SIZE / 2
    const cache = run(receive('a', { size }), receive('b', { size }), { type: 'show', keys: ['a'] })
    expect(keysOf(reduceRouteCache(cache, receive('c', { size })))).toEqual(['a', 'c'])
  })

  test('exactly the bound fits', () => {
    expect(run(receive('a', { size: MAX_SIZE - 1 }), receive('b', { size: 1 })).entries.size).toBe(2)
    expect(keysOf(run(receive('a', { size: MAX_SIZE }), receive('b', { size: 1 })))).toEqual(['b'])
  })

  test('what has expired goes with the next answer, used or not', () => {
    const later = NOW + REUSE_WINDOW_MS + 1
    const cache = run(receive('a'), receive('b', { lifetimeMs: 1e9 }), { type: 'show', keys: ['a'] })
    expect(keysOf(reduceRouteCache(cache, receive('c', { receivedAt: later }, later)))).toEqual(['b', 'c'])
    expect(keysOf(reduceRouteCache(cache, receive('c', { lifetimeMs: 0 }, later)))).toEqual(['b'])
  })
})

test('showing what is last and shown, or what is not there, changes nothing', () => {
  const cache = run(receive('a'), receive('b'), receive('c'), { type: 'show', keys: ['b', 'c'] })
  expect(reduceRouteCache(cache, { type: 'show', keys: ['b', 'c'] })).toBe(cache)
  expect(reduceRouteCache(cache, { type: 'show', keys: ['x'] })).toBe(cache)
  expect(reduceRouteCache(cache, { type: 'show', keys: [] })).toBe(cache)
  expect(keysOf(reduceRouteCache(cache, { type: 'show', keys: ['c', 'b'] }))).toEqual(['a', 'c', 'b'])
})

describe('any history', () => {
  const key = constantFrom('a', 'b', 'c', 'd')
  const content = integer({ min: 1, max: 3 }).map(String)
  const size = constantFrom(1, 1_000_000, 2_000_000, MAX_SIZE, MAX_SIZE + 1)
  const lifetimeMs = constantFrom(0, 1000, ENTRY_LIFETIME_MS, 1_000_000)
  const tags = subarray(['x', 'y'])
  const path = constantFrom('/', '/p', '/p/q')
  const step = integer({ min: 0, max: 200_000 })
  const targets = subarray(['x', '/p', '/p/*', '/*'])
  const received = record(
    { lifetimeMs, tags, path, size, content, shown: boolean() },
    { requiredKeys: ['lifetimeMs', 'tags', 'path', 'size', 'shown'] },
  )
  const happening = oneof(
    record({ type: constant('receive' as const), key, step, received }),
    record({ type: constant('show' as const), keys: subarray(['a', 'b', 'c', 'd', 'e']) }),
    record({ type: constant('revalidate' as const), targets }),
  )

  test('stays within its bounds, counts its size, is never changed behind its back, and is new only if it differs', () => {
    assert(
      property(array(happening, { maxLength: 30 }), (list) => {
        let now = 0
        let cache = EMPTY_CACHE
        for (const happened of list) {
          const before = cache
          const copy = [...before.entries]
          let event: CacheEvent
          if (happened.type === 'receive') {
            now += happened.step
            const { content, ...rest } = happened.received
            const members = content === undefined ? rest : { ...rest, content }
            event = { type: 'receive', key: happened.key, now, entry: entry({ ...members, receivedAt: now }) }
          } else event = happened
          cache = reduceRouteCache(before, event)

          expect([...before.entries]).toEqual(copy)
          const values = [...cache.entries.values()]
          expect(cache.size).toBe(values.reduce((sum, one) => sum + one.size, 0))
          expect(cache.size).toBeLessThanOrEqual(MAX_SIZE)
          const equal = JSON.stringify([...cache.entries]) === JSON.stringify(copy)
          if (event.type !== 'receive') expect(cache === before).toBe(equal)
          if (event.type === 'receive') {
            for (const one of values) expect(entryState(one, now)).not.toBe('expired')
            const kept = event.entry.lifetimeMs > 0 && event.entry.size <= MAX_SIZE
            expect(keysOf(cache).at(-1) === event.key).toBe(kept)
          }
          if (event.type === 'revalidate') {
            for (const one of values) expect(matchesTarget(one, event.targets)).toBe(false)
          }
          // Whoever is still there has kept the order of use, but for the one event that is a use.
          const used = event.type === 'receive' ? [event.key] : event.type === 'show' ? event.keys : []
          const rest = keysOf(cache).filter((one) => !used.includes(one))
          expect(rest).toEqual(keysOf(before).filter((one) => rest.includes(one)))
        }
      }),
      { numRuns: 300 },
    )
    expect(EMPTY_CACHE.entries.size).toBe(0)
  })
})
