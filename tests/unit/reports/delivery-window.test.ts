import { expect, test } from 'vitest'
import { createDeliveryWindow } from '../../../src/server/reports/delivery/delivery-window.ts'
import type { SpooledEntry } from '../../../src/server/reports/spool/spool.ts'
import { countedSpool } from './counted-spool.ts'

const all = (_kind: string): boolean => true

/** A queue that counts how often it is asked; what was taken stays under way. */
function queue(...kinds: string[]) {
  const entries: SpooledEntry[] = []
  const asked = { kinds: 0, lists: 0 }
  const add = (kind: string): void => {
    const id = entries.length + 1
    entries.push({ id, kind, client: `client ${id}`, eventId: undefined, categories: { [kind]: 1 }, bytes: 1 })
  }
  for (const kind of kinds) add(kind)
  const window = createDeliveryWindow({
    lastId: () => entries.length,
    kinds() {
      asked.kinds += 1
      return [...new Set(entries.map(({ kind }) => kind))]
    },
    list(kind, after, most) {
      asked.lists += 1
      return entries.filter((entry) => entry.kind === kind && entry.id > after).slice(0, most)
    },
  })
  const busy = new Set<string>()
  const take = async (mayLeave = all): Promise<number | undefined> => {
    const entry = await window.take(mayLeave, (client) => busy.has(client))
    if (entry !== undefined) busy.add(entry.client)
    return entry?.id
  }
  return { asked, add, take }
}

test('a backlog is sent without looking at the queue for each envelope', async () => {
  const { asked, take } = queue('error', 'session', 'error', 'session')
  expect([await take(), await take(), await take(), await take()]).toEqual([1, 2, 3, 4])
  expect(asked).toEqual({ kinds: 1, lists: 2 })
})

test('what comes while a backlog is sent goes behind it, of a new kind too', async () => {
  const { add, take } = queue('session', 'session')
  expect(await take()).toBe(1)
  add('error')
  add('session')
  expect([await take(), await take(), await take(), await take()]).toEqual([2, 3, 4, undefined])
})

test('a kind that is limited is left out at once, and goes first when it may again', async () => {
  const { take } = queue('session', 'session', 'error', 'error', 'session')
  const errors = (kind: string): boolean => kind === 'error'
  expect(await take(errors)).toBe(3)
  expect(await take()).toBe(1)
  expect(await take(errors)).toBe(4)
  expect([await take(), await take(), await take()]).toEqual([2, 5, undefined])
})

test('the queue of one client keeps nobody behind it waiting, and comes in order', async () => {
  const { add, counted, ...spool } = countedSpool()
  const addOne = (id: number, client: string): unknown => add(id % 3 === 0 ? 'session' : 'error', client)
  for (let id = 1; id <= 20_000; id += 1) addOne(id, 'greedy')
  addOne(20_001, 'honest')
  addOne(20_002, 'greedy')
  addOne(20_003, 'honest')
  const window = createDeliveryWindow(spool)
  const take = async (...busy: string[]): Promise<number | undefined> =>
    (await window.take(all, (client) => busy.includes(client)))?.id
  expect([await take(), await take('greedy'), await take('greedy', 'honest')]).toEqual([1, 20_001, undefined])
  const walked = counted.rows
  const order: (number | undefined)[] = []
  for (let count = 0; count < 300; count += 1) order.push(await take())
  expect(order).toEqual(Array.from({ length: 300 }, (_, at) => at + 2))
  // What is sent next is loaded, and not all that waits.
  expect(counted.rows - walked).toBeLessThan(300 + 32)
  expect([await take('greedy'), await take('greedy')]).toEqual([20_003, undefined])
  for (let id = 302; id <= 20_000; id += 1) if ((await take()) !== id) throw new Error(`${id} is out of order`)
  expect([await take(), await take()]).toEqual([20_002, undefined])
})

test('what many clients have is sent once, in the order of each, however their entries lie', async () => {
  const clients = ['a', 'b', 'c', 'd', 'e']
  const waiting = Array.from({ length: 3_000 }, (_, at) => entryOf(at + 1, clients[(at * at + (at >> 5)) % 5] ?? 'a'))
  const window = createDeliveryWindow({
    lastId: () => waiting.length,
    kinds: () => ['error', 'session'],
    list: (kind, after, most) => waiting.filter((entry) => entry.kind === kind && entry.id > after).slice(0, most),
  })
  const sent: SpooledEntry[] = []
  const underWay: string[] = []
  for (;;) {
    const entry = await window.take(all, (client) => underWay.includes(client))
    if (entry === undefined && underWay.length === 0) break
    if (entry !== undefined) {
      sent.push(entry)
      underWay.push(entry.client)
    }
    if (entry === undefined || underWay.length === 3) underWay.shift()
  }
  expect(sent.map(({ id }) => id).toSorted((one, other) => one - other)).toEqual(waiting.map(({ id }) => id))
  for (const client of clients) {
    const ids = sent.filter((entry) => entry.client === client).map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((one, other) => one - other))
  }
})

function entryOf(id: number, client: string): SpooledEntry {
  const kind = id % 3 === 0 ? 'session' : 'error'
  return { id, kind, client, eventId: undefined, categories: { [kind]: 1 }, bytes: 1 }
}
