import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createGroupedWrites, type WriteClock } from '../../../src/server/stores/grouped-writes.ts'
import { openOwnDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { join } from 'node:path'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

let folder: TempDir
let database: Database

beforeEach(async () => {
  folder = await makeTempDir('grouped')
  const migrations = ['CREATE TABLE grains (name TEXT PRIMARY KEY) STRICT;']
  database = openOwnDatabase({ path: join(folder.path, 'grains.sqlite'), migrations })
})
afterEach(async () => {
  database.dispose()
  await folder.remove()
})

const add = (name: string) => () => database.statement('INSERT INTO grains VALUES (?)').run(name).changes
const names = (): unknown[] =>
  database
    .statement('SELECT name FROM grains ORDER BY name')
    .all()
    .map(({ name }) => name)

/** Counts transactions, on a clock that stands still; the test runs what is planned. */
function grouped() {
  const state = { transactions: 0, now: 1_000, delays: [] as number[], deferred: [] as (() => void)[] }
  const write: Database['write'] = (work) => {
    state.transactions += 1
    return database.write(work)
  }
  const clock: WriteClock = {
    now: () => state.now,
    after(milliseconds, run) {
      state.delays.push(milliseconds)
      state.deferred.push(run)
      return () => void state.deferred.splice(state.deferred.indexOf(run), 1)
    },
  }
  return { state, writes: createGroupedWrites({ write }, clock) }
}

describe('writes of one turn', () => {
  test('are one transaction, and none is done before it is', async () => {
    const { state, writes } = grouped()
    const done: string[] = []
    const all = ['rye', 'oats'].map((name) =>
      writes.write(add(name)).then((changes) => done.push(`${name} ${changes}`)),
    )
    await turn()
    expect([done, names(), state.deferred.length]).toEqual([[], [], 1])
    state.deferred.shift()?.()
    await Promise.all(all)
    expect([done, names(), state.transactions]).toEqual([['rye 1', 'oats 1'], ['oats', 'rye'], 1])
  })

  test('do not fail for one that does: only that one is undone', async () => {
    const { state, writes } = grouped()
    const answers = Promise.allSettled(['rye', 'rye', 'oats'].map((name) => writes.write(add(name))))
    state.deferred.shift()?.()
    expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(names()).toEqual(['oats', 'rye'])
  })

  test('that are too many are several transactions', async () => {
    const { state, writes } = grouped()
    const all = Array.from({ length: 130 }, (_, at) => writes.write(add(`grain ${at}`)))
    for (let run = state.deferred.shift(); run !== undefined; run = state.deferred.shift()) run()
    await Promise.all(all)
    expect([names().length, state.transactions]).toEqual([130, 3])
  })

  test('that come soon after a commit wait for the rest of its pause, and others for nothing', async () => {
    const { state, writes } = grouped()
    const write = async (name: string): Promise<void> => {
      const done = writes.write(add(name))
      state.deferred.shift()?.()
      await done
    }
    await write('rye')
    state.now += 0.5
    await write('oats')
    state.now += 2
    await write('barley')
    expect(state.delays).toEqual([0, 1.5, 0])
  })

  test('that are patient go along with the next that is not', async () => {
    const { state, writes } = grouped()
    const all = [writes.write(add('rye'), 10), writes.write(add('oats'))]
    expect([state.delays, state.deferred.length]).toEqual([[10, 0], 1])
    state.deferred.shift()?.()
    await Promise.all(all)
    expect([names(), state.transactions]).toEqual([['oats', 'rye'], 1])
  })

  test('that are enough wait for no pause', async () => {
    const { state, writes } = grouped()
    const all = Array.from({ length: 8 }, (_, at) => writes.write(add(`grain ${at}`), 10))
    expect(state.delays).toEqual([10, 0])
    for (let run = state.deferred.shift(); run !== undefined; run = state.deferred.shift()) run()
    await Promise.all(all)
    expect(state.transactions).toBe(1)
  })

  test('are told of a file that cannot be written, each of them', async () => {
    const { state, writes } = grouped()
    const answers = Promise.allSettled([writes.write(add('rye')), writes.write(add('oats'))])
    database.dispose()
    state.deferred.shift()?.()
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

test('a transaction inside of another one is undone with it', () => {
  expect(() =>
    database.write(() => {
      database.write(add('rye'))
      throw new Error('stop')
    }),
  ).toThrow('stop')
  expect(names()).toEqual([])
})

describe('a file that another process has locked', () => {
  test('is tried once in 50 ms, for all that wait', async () => {
    const other = lock()
    const { state, writes } = grouped()
    const written = Promise.all(['a', 'b', 'c'].map((name) => writes.write(add(name))))
    for (let round = 0; round < 3; round += 1) {
      runPlanned(state)
      expect(state).toMatchObject({ transactions: round + 1 })
      expect(state.delays.at(-1)).toBe(50)
    }
    expect(writes.isLocked).toBe(true)
    const late = writes.write(add('d'))
    expect(state.deferred).toHaveLength(1)
    other.close()
    runPlanned(state)
    expect(await Promise.all([written, late])).toEqual([[1, 1, 1], 1])
    expect(writes.isLocked).toBe(false)
    expect(state.transactions).toBe(4)
  })

  test('fails all that wait after two seconds, and what follows at once', async () => {
    const other = lock()
    const { state, writes } = grouped()
    const first = Promise.allSettled(['a', 'b'].map((name) => writes.write(add(name))))
    runPlanned(state)
    state.now += 2_000
    runPlanned(state)
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const second = writes.write(add('c'))
    runPlanned(state)
    await expect(second).rejects.toThrow('database is locked')
    expect(state.transactions).toBe(3)
    other.close()
    const third = writes.write(add('d'))
    runPlanned(state)
    expect(await third).toBe(1)
    expect(names()).toEqual(['d'])
  })
})

/** Until it is closed. */
function lock(): DatabaseSync {
  database.write(() => undefined)
  const other = new DatabaseSync(join(folder.path, 'grains.sqlite'))
  other.exec('BEGIN IMMEDIATE')
  return other
}

function runPlanned(state: { readonly deferred: (() => void)[] }): void {
  for (const run of state.deferred.splice(0)) run()
}
