import { expect, test } from 'vitest'
import { createEntryTurns } from '../../../src/server/request/admission/entry-turns.ts'

/** Turns of a loop that goes on by hand; each request works for so many milliseconds. */
function entryWorld(workMs: number) {
  const world = { now: 0, next: [] as (() => void)[], began: [] as string[] }
  const turns = createEntryTurns({
    now: () => world.now,
    nextTurn: (run) => world.next.push(run),
    afterwards: (run) => queueMicrotask(() => process.nextTick(run)),
  })
  const began = (): readonly string[] => world.began.splice(0)
  const ask = (client: string, name = client, isNewcomer = false): void => {
    const work = (): void => {
      world.began.push(name)
      world.now += workMs
    }
    const turn = turns.take(() => client, isNewcomer)
    if (turn === undefined) work()
    else void turn.then(work)
  }
  let rounds = 0
  /**
   * Goes round until somebody has begun, or there is nothing left to do.
   * @param otherWorkMs in each round.
   * @returns who has begun.
   */
  const turn = async (otherWorkMs = 0): Promise<readonly string[]> => {
    for (rounds = 0; world.next.length > 0 && world.began.length === 0; rounds += 1) {
      world.now += otherWorkMs
      for (const run of world.next.splice(0)) run()
      await new Promise(setImmediate)
    }
    return began()
  }
  return { world, ask, began, turn, rounds: () => rounds }
}

test('requests begin at once for 40 ms in a turn of the event loop, and as long in each of the next', async () => {
  const { ask, began, turn } = entryWorld(8)
  for (let at = 0; at < 12; at += 1) ask('a', String(at))
  expect(began()).toEqual(['0', '1', '2', '3', '4'])
  expect([await turn(), await turn(), await turn()]).toEqual([['5', '6', '7', '8', '9'], ['10', '11'], []])
  ask('a', 'later')
  expect(began()).toEqual(['later'])
})

test('clients take turns, and nobody passes those who wait', async () => {
  const { ask, began, turn } = entryWorld(20)
  for (let at = 0; at < 6; at += 1) ask('a', `a${at}`)
  ask('b')
  expect([began(), await turn()]).toEqual([
    ['a0', 'a1'],
    ['a2', 'b'],
  ])
  ask('c')
  expect([began(), await turn(), await turn()]).toEqual([[], ['a3', 'c'], ['a4', 'a5']])
})

test('a turn that others have made long has no time for them', async () => {
  const { world, ask, began, turn } = entryWorld(1)
  ask('a', 'first')
  world.now += 40
  ask('a', 'second')
  expect([began(), await turn()]).toEqual([['first'], ['second']])
})

test('the event loop goes round ten times between turns, which accept newcomers, unless other work makes that long', async () => {
  const { ask, began, turn, rounds } = entryWorld(40)
  for (const name of ['1', '2', '3', '4']) ask('a', name)
  expect(began()).toEqual(['1'])
  expect([await turn(), rounds()]).toEqual([['2'], 11])
  expect([await turn(1), rounds()]).toEqual([['3'], 11])
  expect([await turn(80), rounds()]).toEqual([['4'], 2])
})

test('no more than 128 begin in one turn, however quick they are', async () => {
  const { ask, began, turn } = entryWorld(0)
  for (let at = 0; at < 300; at += 1) ask('a', String(at))
  expect([began().length, (await turn()).length, (await turn()).length]).toEqual([128, 128, 44])
})

test('where many begin and connections come, the loop goes round before the next, for as long as they come', async () => {
  const { ask, began, turn, rounds, world } = entryWorld(0)
  for (let at = 0; at < 16; at += 1) ask('a', String(at), at === 0)
  expect(began()).toHaveLength(16)
  const arrivals = [3, 6, 8, 20]
  const goRound = world.next.splice(0)
  for (const run of goRound) run()
  for (let round = 1; round <= 30 && world.began.length === 0; round += 1) {
    if (arrivals.includes(round)) ask('b', `at ${round}`, true)
    for (const run of world.next.splice(0)) run()
    await new Promise(setImmediate)
  }
  // The last one came four rounds after the one before it and more: for it alone nobody waits.
  expect(began()).toEqual(['at 3', 'at 6', 'at 8'])
  expect([await turn(), rounds()]).toEqual([[], 1])
})

test('but not for requests on open connections, nor where few begin', async () => {
  for (const [many, isNewcomer] of [
    [16, false],
    [15, true],
  ] as const) {
    const { ask, began, turn } = entryWorld(0)
    for (let at = 0; at < many; at += 1) ask('a', String(at), isNewcomer)
    await turn()
    began()
    ask('a', 'later')
    expect(began()).toEqual(['later'])
  }
})
