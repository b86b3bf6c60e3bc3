import { describe, expect, it } from 'vitest'
import type { NavigationRecord, RequestRecord } from '../../../src/client/core/data/journal.ts'
import {
  NO_PREFETCHES,
  reducePrefetching,
  advancePrefetching,
} from '../../../src/client/core/prefetch/prefetch-scheduler.ts'
import { EMPTY_CACHE, entryState, reduceRouteCache } from '../../../src/client/core/data/route-cache.ts'
import { inspectorTables, type InspectorFacts } from '../../../src/client/inspect/inspector-tables.ts'
import type { InspectorTable } from '../../../src/client/inspect/inspector-table.ts'

const NOTHING: InspectorFacts = {
  known: { cache: EMPTY_CACHE, stateOf: (entry, at = 0) => entryState(entry, at) },
  prefetcher: { state: NO_PREFETCHES },
  journal: { requests: [], navigations: [] },
}

const tableOf = (id: InspectorTable['id'], facts: Partial<InspectorFacts>, now = 0): InspectorTable =>
  inspectorTables({ ...NOTHING, ...facts }, now).find((table) => table.id === id) ?? expect.fail(`no table ${id}`)

const texts = ({ rows }: InspectorTable): string[][] => rows.map(({ cells }) => cells.map(({ text }) => text))

const request = (given: Partial<RequestRecord>): RequestRecord => ({
  href: '/a',
  wants: undefined,
  prefetch: false,
  startedAt: 100,
  status: 0,
  ...given,
})

const navigation = (given: Partial<NavigationRecord>): NavigationRecord => ({
  id: 1,
  kind: 'push',
  from: '/',
  to: '/a',
  startedAt: 100,
  ...given,
})

describe('the tables of an inspector', () => {
  it('say so where there is nothing, and have a cell for each column', () => {
    const tables = inspectorTables(NOTHING, 0)
    expect(tables.map(({ id, rows }) => [id, rows.length])).toEqual([
      ['entries', 0],
      ['queue', 0],
      ['requests', 0],
      ['navigations', 0],
    ])
    expect(tables.every(({ empty }) => empty !== '')).toBe(true)
  })

  it('show an entry’s state, age and lifetime, the last used first', () => {
    const entry = { value: 1, lifetimeMs: 60_000, tags: ['a', 'b'], path: '/a', size: 1234, receivedAt: 0, shown: true }
    const older = reduceRouteCache(EMPTY_CACHE, { type: 'receive', key: 'one', entry, now: 0 })
    const cache = reduceRouteCache(older, {
      type: 'receive',
      key: 'two',
      entry: { ...entry, tags: [], shown: false, receivedAt: 30_000 },
      now: 30_000,
    })
    expect(texts(tableOf('entries', { known: { ...NOTHING.known, cache } }, 61_999))).toEqual([
      ['fresh', 'two', '31 s', '60 s', '1,234', 'none'],
      ['stale', 'one', '61 s', '60 s', '1,234', 'a, b'],
    ])
  })

  it('show what runs before what rests, and that before what waits, 50 together', () => {
    let state = reducePrefetching(NO_PREFETCHES, { type: 'add', target: '/failed', priority: 'intent', now: 0 })
    state = advancePrefetching(state, 0, () => 1)
    state = reducePrefetching(state, { type: 'settle', target: '/failed', now: 0, failed: true, cost: 0 })
    for (let at = 0; at < 60; at += 1) {
      state = reducePrefetching(state, { type: 'add', target: `/${at}`, priority: 'viewport', now: 0 })
    }
    state = advancePrefetching(state, 0, () => 1)
    const table = tableOf('queue', { prefetcher: { state } }, 2_500)
    expect(table.rows).toHaveLength(50)
    const rows = texts(table)
    expect(rows[0]).toEqual(['/0', 'viewport', 'fetching', ''])
    expect(rows[5]).toEqual(['/failed', 'none', 'blocked for 8 s', 'a redirect or a fallback, which is not cached'])
    expect(rows[6]).toEqual(['/5', 'viewport', 'queued', ''])
    expect(table.note).toBe('5 running, 55 queued, 1 blocked. Not paused. The first 50 are shown.')
  })

  it('say for how long all prefetching pauses', () => {
    const state = reducePrefetching(NO_PREFETCHES, { type: 'pause', until: 5_000 })
    expect(tableOf('queue', { prefetcher: { state } }, 1).note).toContain('Paused for 5 s.')
    expect(tableOf('queue', { prefetcher: { state } }, 5_000).note).toContain('Not paused.')
  })

  it.each([
    [{}, ['/a', 'none yet', 'needed', 'in progress']],
    [{ status: 200, prefetch: true }, ['/a', '200', 'prefetch', 'in progress']],
    [{ status: 200, endedAt: 150 }, ['/a', '200', 'needed', '50 ms']],
    [{ status: 200, endedAt: 150, failed: 'broke off' }, ['/a', '200, broke off', 'needed', '50 ms']],
    [{ endedAt: 150 }, ['/a', 'none', 'needed', '50 ms']],
    [{ endedAt: 150, failed: 'no network' }, ['/a', 'no network', 'needed', '50 ms']],
  ] as const)('show the request %j as %j', (given, cells) => {
    const table = tableOf('requests', { journal: { requests: [request(given)], navigations: [] } })
    expect(texts(table).map((row) => row.slice(0, cells.length))).toEqual([cells])
  })

  it.each([
    [{}, 'in progress', 'in progress', { ready: 0, commit: 0 }],
    [{ readyAt: 120 }, 'in progress', 'ready 20 ms', { ready: 0.2, commit: 0 }],
    [
      { readyAt: 120, endedAt: 150, end: 'commit' },
      'commit',
      'ready 20 ms, commit +30 ms',
      { ready: 0.2, commit: 0.3 },
    ],
    [{ endedAt: 150, end: 'cancel' }, 'cancel', 'cancel after 50 ms', { ready: 0.5, commit: 0 }],
  ] as const)(
    'show the navigation %j by its end and its phases, on the scale of the longest',
    (given, end, text, phases) => {
      const longest = navigation({ id: 2, readyAt: 200, endedAt: 200, end: 'commit' })
      const table = tableOf('navigations', { journal: { requests: [], navigations: [navigation(given), longest] } })
      const [, , , endCell, timeLine] = table.rows[1]?.cells ?? []
      expect(endCell?.text).toBe(end)
      expect(timeLine?.text).toBe(text)
      expect(timeLine?.phases?.ready).toBeCloseTo(phases.ready)
      expect(timeLine?.phases?.commit).toBeCloseTo(phases.commit)
    },
  )
})
