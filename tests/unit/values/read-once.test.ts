import { expect, test } from 'vitest'
import { readOnce } from '../../../src/server/values/read-once.ts'

test('each getter is asked once, wherever it stands, and all who read see what it gave', () => {
  let asked = 0
  const counting = {
    get count() {
      return (asked += 1)
    },
  }
  const read = readOnce({ list: [counting], map: new Map([['a', counting]]), set: new Set([counting]) }) as {
    readonly list: readonly [{ readonly count: number }]
    readonly map: ReadonlyMap<string, unknown>
    readonly set: ReadonlySet<unknown>
  }
  const [first] = read.list
  expect([first.count, first.count]).toEqual([1, 1])
  expect(read.map.get('a')).toBe(first)
  expect(read.set.has(first)).toBe(true)
  expect(asked).toBe(1)
  expect(counting.count).toBe(2)
})

test('what only its class can copy, and what goes round, stays what it is', () => {
  const [date, promise] = [new Date(0), Promise.resolve(1)]
  class Price {
    readonly cents = 5
  }
  const price = new Price()
  const circle: Record<string, unknown> = { date, promise, price, text: 'a', sparse: Object.assign([], { 2: 'c' }) }
  circle['self'] = circle
  Object.defineProperty(circle, '__proto__', { value: 'own', enumerable: true })
  const read = readOnce(circle) as Record<string, unknown>
  expect(read).not.toBe(circle)
  expect(read['self']).toBe(read)
  expect([read['date'], read['promise'], read['price'], read['text']]).toEqual([date, promise, price, 'a'])
  expect(read['price']).toBe(price)
  expect(read['sparse']).toHaveLength(3)
  expect(Object.getOwnPropertyDescriptor(read, '__proto__')?.value).toBe('own')
})

test('a getter that throws throws for whoever reads it, and takes nothing else with it', () => {
  const read = readOnce({
    get broken() {
      throw new Error('no price today')
    },
    fine: 1,
  }) as { readonly broken: unknown; readonly fine: number }
  expect(read.fine).toBe(1)
  expect(() => read.broken).toThrow('no price today')
})

test('depth costs no stack', () => {
  let deep: object = {}
  for (let level = 0; level < 100_000; level += 1) deep = { deep }
  expect(readOnce(deep)).toHaveProperty('deep')
})
