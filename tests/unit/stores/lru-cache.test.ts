import { array, assert, constantFrom, integer, oneof, property, record, constant } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLruCache } from '../../../src/server/stores/cache/lru-cache.ts'

const BOUNDS = { entries: 4, bytes: 20 }

/** The same as a list, least recently used first: slow, and plain to see. */
function listCache() {
  let list: { key: string; entry: number; bytes: number }[] = []
  const total = (): number => list.reduce((sum, { bytes }) => sum + bytes, 0)
  const without = (key: string) => list.filter((slot) => slot.key !== key)
  return {
    get(key: string): number | undefined {
      const slot = list.find((each) => each.key === key)
      if (slot !== undefined) list = [...without(key), slot]
      return slot?.entry
    },
    set(key: string, entry: number, bytes: number): boolean {
      list = without(key)
      if (bytes > BOUNDS.bytes) return false
      list.push({ key, entry, bytes })
      while (list.length > BOUNDS.entries || total() > BOUNDS.bytes) list.shift()
      return true
    },
    delete(key: string): void {
      list = without(key)
    },
    get size() {
      return list.length
    },
    get bytes() {
      return total()
    },
  }
}

const key = constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const steps = array(
  oneof(
    record({ kind: constant('get' as const), key }),
    record({ kind: constant('set' as const), key, entry: integer(), bytes: integer({ min: 0, max: 24 }) }),
    record({ kind: constant('delete' as const), key }),
  ),
  { maxLength: 60 },
)

test('keeps what was used last, within its bounds, whatever happens', () => {
  assert(
    property(steps, (all) => {
      const [cache, list] = [createLruCache<number>(BOUNDS), listCache()]
      for (const step of all) {
        const [one, other] = [cache, list].map((each) => {
          if (step.kind === 'get') return each.get(step.key)
          return step.kind === 'set' ? each.set(step.key, step.entry, step.bytes) : each.delete(step.key)
        })
        expect(one).toBe(other)
        expect([cache.size, cache.bytes]).toEqual([list.size, list.bytes])
        expect(cache.size <= BOUNDS.entries && cache.bytes <= BOUNDS.bytes).toBe(true)
      }
    }),
  )
})

describe('with two clients', () => {
  const bounds = { entries: 100, bytes: 10_000 }

  test.for([
    ['by their number', 1],
    ['by their bytes', 1_000],
  ] as const)('one that fills the cache %s pushes out its own entries, and none of the other', ([, bytes]) => {
    const crowdedOut: string[] = []
    const cache = createLruCache<number>(bounds, (key) => crowdedOut.push(key))
    for (let at = 0; at < 60; at += 1) cache.set(`honest ${at}`, at, 10, 'honest')
    for (let at = 0; at < 1_000; at += 1) cache.set(`greedy ${at}`, at, bytes, 'greedy')
    for (let at = 0; at < 60; at += 1) expect(cache.get(`honest ${at}`)).toBe(at)
    expect(cache.get('greedy 999')).toBe(999)
    expect(crowdedOut.length).toBeGreaterThan(900)
    expect(crowdedOut.every((key) => key.startsWith('greedy'))).toBe(true)
  })

  test('one that is alone has all of it, and makes room for the other', () => {
    const cache = createLruCache<number>(bounds)
    for (let at = 0; at < 1_000; at += 1) cache.set(`first ${at}`, at, 1, 'first')
    expect(cache.size).toBe(100)
    for (let at = 0; at < 25; at += 1) cache.set(`second ${at}`, at, 1, 'second')
    for (let at = 0; at < 1_000; at += 1) cache.set(`third ${at}`, at, 1, 'first')
    for (let at = 0; at < 25; at += 1) expect(cache.get(`second ${at}`)).toBe(at)
  })

  test('an entry that is kept again belongs to the one that has made it last', () => {
    const cache = createLruCache<number>({ entries: 4, bytes: 100 })
    cache.set('a', 1, 1, 'first')
    cache.set('a', 2, 1, 'second')
    for (const name of ['b', 'c', 'd', 'e', 'f']) cache.set(name, 0, 1, 'first')
    expect([cache.get('a'), cache.size]).toEqual([2, 4])
    cache.delete('a')
    expect([cache.get('a'), cache.size, cache.bytes]).toEqual([undefined, 3, 3])
  })
})
