import { describe, expect, it } from 'vitest'
import {
  EMPTY_CACHE,
  entryState,
  reduceRouteCache,
  type RouteCache,
} from '../../../src/client/core/data/route-cache.ts'
import { observePage } from '../../../src/client/inspect/observe-page.ts'
import { nearestCorner } from '../../../src/client/dev/panel-button.ts'
import { readLayout } from '../../../src/client/dev/panel-setting.ts'

type Heard = (list: { getEntries(): readonly unknown[] }) => void

/** A window that measures what the test says. */
function fakeWindow() {
  const state: { heard?: Heard } = {}
  class PerformanceObserver {
    constructor(heard: Heard) {
      state.heard = heard
    }
    observe(): void {}
    disconnect(): void {}
  }
  const window = {
    PerformanceObserver,
    performance: { timeOrigin: 0, getEntriesByType: () => [] },
    location: { origin: 'https://mill.example' },
    document: { querySelector: () => null },
  } as unknown as Window & typeof globalThis
  const measure = (name: string): void =>
    state.heard?.({ getEntries: () => [{ name, initiatorType: 'fetch', startTime: 0, serverTiming: [] }] })
  return { window, measure }
}

const entry = { value: 1, receivedAt: 0, lifetimeMs: 60_000, shown: false, tags: [], path: '/a', size: 1 }

describe('the observer of a page', () => {
  it('keeps the last 200 requests', () => {
    const { window, measure } = fakeWindow()
    const observer = observePage(window)
    for (let index = 0; index < 250; index += 1) measure(`https://mill.example/${index}`)
    const { requests } = observer.facts()
    expect([requests.length, requests[0]?.url]).toEqual([200, '/50'])
  })

  it('tells why an entry has left the cache', () => {
    const clock = { now: 0 }
    const known: { cache: RouteCache; stateOf: typeof entryState } = { cache: EMPTY_CACHE, stateOf: entryState }
    const state: { changed?: () => void } = {}
    const observer = observePage(fakeWindow().window, () => clock.now)
    observer.watchCache(
      {
        get cache() {
          return known.cache
        },
        stateOf: (one, at = 0) => entryState(one, at),
      },
      (changed) => {
        state.changed = changed
        return () => undefined
      },
    )
    const change = (event: Parameters<typeof reduceRouteCache>[1]): void => {
      known.cache = reduceRouteCache(known.cache, event)
      state.changed?.()
    }
    change({ type: 'receive', key: 'one', entry, now: 0 })
    change({ type: 'revalidate', targets: ['/a'] })
    change({ type: 'receive', key: 'two', entry, now: 0 })
    clock.now = 400_000
    change({ type: 'receive', key: 'three', entry: { ...entry, receivedAt: clock.now }, now: clock.now })
    change({
      type: 'receive',
      key: 'four',
      entry: { ...entry, size: 3_999_999.5, receivedAt: clock.now },
      now: clock.now,
    })
    expect(observer.facts().dropped).toEqual([
      { key: 'one', at: 0, why: 'dropped' },
      { key: 'two', at: 400_000, why: 'expired' },
      { key: 'three', at: 400_000, why: 'evicted' },
    ])
  })

  it('follows a call of an action to its end, and passes its result and its error on', async () => {
    const clock = { now: 10 }
    const observer = observePage(fakeWindow().window, () => clock.now)
    const result = Promise.withResolvers<string>()
    const router = {
      call: (id: string): Promise<unknown> => (id === 'good' ? result.promise : Promise.reject(new Error('Broken'))),
    }
    observer.watchCalls(router)
    const answered = router.call('good')
    expect(observer.facts().calls).toEqual([{ id: 'good', startedAt: 10 }])
    clock.now = 25
    result.resolve('saved')
    expect(await answered).toBe('saved')
    await expect(router.call('bad')).rejects.toThrow('Broken')
    expect(observer.facts().calls).toEqual([
      { id: 'good', startedAt: 10, endedAt: 25 },
      { id: 'bad', startedAt: 25, endedAt: 25, failed: 'Broken' },
    ])
  })
})

describe('the layout of the panel', () => {
  it.each([null, '', 'not JSON', 'null', '{"dock":"middle","height":-1,"section":7,"button":null}'])(
    'is the first one where %j is stored',
    (stored) => {
      expect(readLayout(stored)).toEqual({
        section: 'screen',
        dock: 'bottom',
        height: 360,
        width: 520,
        button: 'bottom left',
      })
    },
  )

  it('is the stored one otherwise', () => {
    const layout = { section: 'cache', dock: 'left', height: 200, width: 300, button: 'hidden' }
    expect(readLayout(JSON.stringify(layout))).toEqual(layout)
  })

  it('puts the button into the corner that it is dragged to', () => {
    expect([nearestCorner(0.1, 0.1), nearestCorner(0.9, 0.9), nearestCorner(0.2, 0.8)]).toEqual([
      'top left',
      'bottom right',
      'bottom left',
    ])
  })
})
