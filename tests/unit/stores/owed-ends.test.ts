/** Ends of calls that the shared store has not taken yet. */
import { expect, test, vi } from 'vitest'
import { OwedEnds, type CallEnd } from '../../../src/server/stores/owed-ends.ts'

const NOW = 1_800_000_000_000

/** A store that takes nothing at first. */
function owing() {
  const store = { takes: false, finished: [] as string[], abandoned: [] as string[] }
  const write = async (keys: string[], key: string): Promise<void> => {
    if (!store.takes) throw new Error('READONLY')
    keys.push(key)
  }
  const ends = new OwedEnds({
    finish: (key) => write(store.finished, key),
    abandon: (key) => write(store.abandoned, key),
  })
  const owe = (end: CallEnd): Promise<void> => ends.send(end).catch(() => undefined)
  const finish = (client: string, number: number, length = 10): Promise<void> =>
    owe({ key: `${client}${number}`, result: { text: 'x'.repeat(length), now: NOW, client } })
  return { store, ends, owe, finish }
}

test.each([
  ['many small ones', 2_500, 10],
  ['long ones', 300, 300_000],
])('are lost by the client with most, not by others: %s', async (_, count, length) => {
  const { store, ends, finish } = owing()
  for (let at = 0; at < 20; at += 1) await finish(`honest ${at} `, 1)
  for (let at = 0; at < count; at += 1) await finish('greedy ', at, length)
  store.takes = true
  await ends.pay()
  expect(store.finished.filter((key) => key.startsWith('honest'))).toHaveLength(20)
  expect(store.finished.length).toBeLessThanOrEqual(1_000)
  expect(store.finished.at(-1)).toBe(`greedy ${count - 1}`)
})

test('are sent again every second, in their order, the last end of a call alone', async () => {
  vi.useFakeTimers()
  const { store, owe, finish } = owing()
  await finish('a', 1)
  await owe({ key: 'b1' })
  await owe({ key: 'a1' })
  await vi.advanceTimersByTimeAsync(5_000)
  store.takes = true
  await vi.advanceTimersByTimeAsync(1_000)
  expect([store.finished, store.abandoned]).toEqual([[], ['b1', 'a1']])
  vi.useRealTimers()
})
