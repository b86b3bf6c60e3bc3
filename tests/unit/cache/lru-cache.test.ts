import { array, assert, constantFrom, integer, oneof, property, record, constant } from 'fast-check'
import { expect, test } from 'vitest'
import { createLruCache } from '../../../src/server/cache/lru-cache.ts'

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
