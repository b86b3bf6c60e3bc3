import { expect, test } from 'vitest'
import { createDeliveryWindow } from '../../../src/server/reports/delivery/delivery-window.ts'
import type { SpooledEntry } from '../../../src/server/reports/spool/spool.ts'

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
