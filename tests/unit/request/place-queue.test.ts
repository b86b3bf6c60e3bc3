import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPlaceQueue, WAIT_MS } from '../../../src/server/request/admission/place-queue.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Takes places for clients, and notes in which order they get them. */
function world(limit: number) {
  const queue = createPlaceQueue({ limit })
  const order: string[] = []
  const gone = new Set<string>()
  const ask = (name: string): void => {
    const client = name.replace(/\d+$/, '')
    const note = (refusal: unknown): unknown => order.push(refusal === undefined ? name : `${name} ${String(refusal)}`)
    const verdict = queue.take({ client, isGone: () => gone.has(name) })
    if (verdict instanceof Promise) void verdict.then(note)
    else note(verdict)
  }
  return { queue, order, gone, ask }
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

test('clients that wait get places in turn, whoever asked more', async () => {
  const { queue, order, ask } = world(2)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2']) ask(name)
  expect(order).toEqual(['a1', 'a2'])
  for (let count = 0; count < 6; count += 1) queue.give('a')
  await settle()
  expect(order.slice(2)).toEqual(['a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
  expect(queue.waiting).toBe(0)
})

test('who has waited for too long is refused, and nobody else', async () => {
  const { queue, order, ask } = world(1)
  for (const name of ['a1', 'a2', 'b1']) ask(name)
  await vi.advanceTimersByTimeAsync(WAIT_MS / 2)
  for (const name of ['a3', 'b2']) ask(name)
  await vi.advanceTimersByTimeAsync(WAIT_MS / 2 + 100)
  expect(order).toEqual(['a1', 'a2 late', 'b1 late'])
  queue.give('a')
  await settle()
  expect(order.at(-1)).toBe('a3')
  expect([queue.taken, queue.waiting]).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(WAIT_MS)
  expect([order.at(-1), queue.waiting, vi.getTimerCount()]).toEqual(['b2 late', 0, 0])
})

test('who has gone takes no place', async () => {
  const { queue, order, gone, ask } = world(1)
  for (const name of ['a1', 'a2', 'a3']) ask(name)
  gone.add('a2')
  queue.give('a')
  await settle()
  expect(order).toEqual(['a1', 'a2 late', 'a3'])
})

test('a client is let in beside one that has all places, and the further ones come back', async () => {
  const { queue, order, ask } = world(16)
  for (let count = 1; count <= 17; count += 1) ask(`a${count}`)
  for (const name of ['b1', 'b2', 'b3', 'c1', 'c2', 'd1']) ask(name)
  expect(order.slice(16)).toEqual(['b1', 'b2', 'c1', 'd1'])
  expect([queue.taken, queue.isFull]).toEqual([20, true])
  // The last one that is left is for a newcomer.
  queue.give('d')
  await settle()
  expect(order).toHaveLength(20)
  ask('e1')
  for (const client of ['b', 'b', 'e']) queue.give(client)
  await settle()
  expect(order.slice(20)).toEqual(['e1', 'b3', 'c2'])
  for (const client of ['b', 'c', 'c']) queue.give(client)
  expect([queue.taken, queue.isFull, queue.waiting]).toEqual([16, false, 1])
  queue.give('a')
  await settle()
  expect(order.at(-1)).toBe('a17')
})

test.for<readonly [clients: number, each: number]>([
  [3, 40],
  [6, 20],
  [16, 8],
])('a newcomer finds a place of 128 beside %i clients that hold %i each', async ([clients, each]) => {
  const { order, ask } = world(128)
  const names = Array.from({ length: clients }, (_, at) => `${String.fromCharCode(97 + at)}-`)
  for (let one = 0; one < each + 100; one += 1) for (const name of names) ask(`${name}${one}`)
  const held = order.length
  ask('newcomer1')
  await settle()
  expect(order[held]).toBe('newcomer1')
})
