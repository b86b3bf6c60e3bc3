import { expect, test } from 'vitest'
import { createWaiterTurns } from '../../../src/server/http/waiter-turns.ts'

/** Turns of a loop that goes on by hand; each waiter works for so many milliseconds. */
function waiterWorld(workMs: number) {
  const world = { now: 0, next: [] as (() => void)[], went: [] as string[] }
  const turns = createWaiterTurns({
    now: () => world.now,
    nextTurn: (run) => world.next.push(run),
    afterwards: (run) => queueMicrotask(() => process.nextTick(run)),
  })
  const wait = (client: string, name = client): void =>
    void turns.take(client).then(() => {
      world.went.push(name)
      world.now += workMs
    })
  const settle = () => new Promise(setImmediate)
  /** @returns who has gone on since the last turn. */
  const turn = async (): Promise<readonly string[]> => {
    for (const run of world.next.splice(0)) run()
    await settle()
    return world.went.splice(0)
  }
  return { wait, turn }
}

test('waiters that work for long go on one in a turn of the loop, and clients take turns', async () => {
  const { wait, turn } = waiterWorld(6)
  for (const name of ['a1', 'a2', 'a3']) wait('a', name)
  wait('b')
  const went: (readonly string[])[] = []
  for (let at = 0; at < 5; at += 1) went.push(await turn())
  expect(went).toEqual([['a1'], ['a2'], ['b'], ['a3'], []])
  wait('c')
  expect(await turn()).toEqual(['c'])
})

test('waiters that do little share a turn', async () => {
  const { wait, turn } = waiterWorld(1)
  for (let at = 0; at < 12; at += 1) wait('a', String(at))
  const counts: number[] = []
  for (let at = 0; at < 4; at += 1) counts.push((await turn()).length)
  expect(counts).toEqual([5, 5, 2, 0])
})
