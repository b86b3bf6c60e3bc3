import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDeliveryWindow } from '../../../src/server/reports/delivery/delivery-window.ts'
import type { SpooledEntry } from '../../../src/server/reports/spool/spool.ts'
import { countedSpool, KINDS } from './counted-spool.ts'

const all = (_kind: string): boolean => true

test('a client with many kinds, one of them dense and in front, has each of its rows read once', async () => {
  const spool = countedSpool()
  spool.fill('error', 'greedy', 3_000)
  for (let round = 0; round < 100; round += 1) for (const kind of KINDS) spool.fill(kind, 'greedy', 1)
  spool.fill('error', 'honest', 1)
  const waiting = spool.all().length
  const window = createDeliveryWindow(spool)
  expect(await window.take(all, (client) => client === 'greedy')).toMatchObject({ client: 'honest' })
  expect(spool.counted.rows).toBe(waiting)
  // Others are served in between.
  expect(spool.counted.mostRowsATurn).toBeLessThan(1_024)
  // Nearly each page is full, but for the last ones of each kind.
  expect(spool.counted.lists).toBeLessThan((waiting / 128 + KINDS.length) * KINDS.length)
})

test('what such a client has is loaded as it is sent, and is not walked through again', async () => {
  const spool = countedSpool()
  for (let round = 0; round < 40; round += 1) for (const kind of KINDS) spool.fill(kind, 'greedy', 1)
  const waiting = spool.all().length
  const window = createDeliveryWindow(spool)
  for (let id = 1; id <= waiting; id += 1) {
    const entry = await window.take(all, () => false)
    if (entry?.id !== id) throw new Error(`${entry?.id} instead of ${id}`)
    spool.remove(entry)
  }
  expect(await window.take(all, () => false)).toBeUndefined()
  // Once on the way, once when it is loaded.
  expect(spool.counted.rows).toBeLessThan(2 * waiting)
  expect(spool.counted.mostRowsATurn).toBeLessThan(1_024)
})

test('a kind that comes and goes has nothing read again', async () => {
  const spool = countedSpool()
  spool.fill('error', 'greedy', 2_000)
  const window = createDeliveryWindow(spool)
  const isGreedy = (client: string): boolean => client === 'greedy'
  expect(await window.take(all, isGreedy)).toBeUndefined()
  const { rows } = spool.counted
  for (const kind of KINDS.slice(0, 10)) {
    const added = spool.add(kind, 'other')
    expect(await window.take(all, isGreedy)).toEqual(added)
    spool.remove(added)
  }
  expect(spool.counted.rows - rows).toBe(10)
})

test('while nothing new has come, no kind is asked', async () => {
  const spool = countedSpool()
  for (const kind of KINDS) spool.fill(kind, 'greedy', 2)
  const window = createDeliveryWindow(spool)
  const isBusy = (client: string): boolean => client === 'greedy'
  expect(await window.take(all, isBusy)).toBeUndefined()
  const { lists } = spool.counted
  for (let at = 0; at < 3; at += 1) expect(await window.take(all, isBusy)).toBeUndefined()
  expect(spool.counted.lists).toBe(lists)
  const added = spool.add('error', 'other')
  expect(await window.take(all, isBusy)).toEqual(added)
})

test('what is given back is the next of its client', async () => {
  const spool = countedSpool()
  for (let at = 0; at < 40; at += 1) for (const client of ['a', 'b']) spool.add(at % 2 === 0 ? 'error' : 'span', client)
  const window = createDeliveryWindow(spool)
  const first = (await window.take(all, () => false)) as SpooledEntry
  const second = (await window.take(all, (client) => client === 'a')) as SpooledEntry
  window.giveBack(first)
  window.giveBack(first)
  expect([first.id, second.id, (await window.take(all, (client) => client === 'b'))?.id]).toEqual([1, 2, 1])
  window.rewind()
  // It has been read again.
  window.giveBack(second)
  const order: (number | undefined)[] = []
  for (let at = 0; at < 80; at += 1) order.push((await window.take(all, () => false))?.id)
  expect(order).toEqual(Array.from({ length: 80 }, (_, at) => at + 1))
})

test('a client whose further entries could not be loaded loses none', async () => {
  const spool = countedSpool()
  spool.fill('error', 'a', 50)
  let broken = false
  const list: typeof spool.list = (kind, after, most) => {
    if (broken) throw new Error('the store is away')
    return spool.list(kind, after, most)
  }
  const window = createDeliveryWindow({ ...spool, list })
  const take = async (): Promise<void> => {
    const entry = await window.take(all, () => false)
    if (entry !== undefined) spool.remove(entry)
  }
  for (let sent = 0; sent < 32; sent += 1) await take()
  // They are known by now.
  expect(await window.take(all, () => true)).toBeUndefined()
  broken = true
  await expect(take()).rejects.toThrow('away')
  broken = false
  while (spool.all().length > 0) {
    const [oldest] = spool.all()
    expect(await window.take(all, () => false)).toEqual(oldest)
    spool.remove(oldest as SpooledEntry)
  }
})

test('whatever fails, is limited, evicted or comes meanwhile, each is sent once and in the order of its client', async () => {
  const clients = ['a', 'b', 'c']
  const kinds = KINDS.slice(0, 8)
  const step = fc.oneof(
    fc.record({ do: fc.constant('add'), kind: fc.nat(7), client: fc.nat(2), number: fc.nat(300) }),
    fc.record({ do: fc.constant('limit'), kind: fc.nat(7), client: fc.nat(2), number: fc.nat(300) }),
    fc.record({ do: fc.constant('evict'), kind: fc.nat(7), client: fc.nat(2), number: fc.nat(60) }),
    fc.record({ do: fc.constantFrom('send', 'fail'), kind: fc.nat(7), client: fc.nat(2), number: fc.nat(80) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.infiniteStream(fc.nat(2)), async (steps, chances) => {
      const spool = countedSpool()
      const window = createDeliveryWindow(spool)
      const limited = new Set<string>()
      const underWay: SpooledEntry[] = []
      const isOpen = (kind: string): boolean => !limited.has(kind)
      const isBusy = (client: string): boolean => underWay.some((entry) => entry.client === client)
      /** Takes one, and settles the oldest under way if there are two or none is left. */
      async function turn(fails: boolean): Promise<boolean> {
        const entry = await window.take(isOpen, isBusy, fails ? () => (chances.next().value ?? 0) / 3 : undefined)
        const open = spool.all().filter(({ kind }) => isOpen(kind))
        if (entry === undefined) expect(open.filter(({ client }) => !isBusy(client))).toEqual([])
        else if (open.some(({ id }) => id === entry.id)) {
          expect(entry).toEqual(open.find(({ client }) => client === entry.client))
          underWay.push(entry)
        }
        const done = underWay.length > 1 || entry === undefined ? underWay.shift() : undefined
        if (done !== undefined && fails) window.giveBack(done)
        else if (done !== undefined) spool.remove(done)
        return entry !== undefined || done !== undefined
      }
      for (const { do: what, kind, client, number } of steps) {
        const name = kinds[kind] ?? ''
        if (what === 'add') spool.fill(name, clients[client] ?? '', number)
        else if (what === 'limit') void (limited.delete(name) || limited.add(name))
        else if (what === 'evict') {
          const own = spool.all().filter((entry) => entry.client === clients[client])
          for (const entry of own.slice(0, number)) spool.remove(entry)
        } else for (let at = 0; at < number; at += 1) await turn(what === 'fail')
      }
      limited.clear()
      while (await turn(false)) {
        // Until nothing is left.
      }
      expect(spool.all()).toEqual([])
    }),
    { numRuns: 60 },
  )
})
