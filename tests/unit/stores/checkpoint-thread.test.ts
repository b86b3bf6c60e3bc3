import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createCheckpointThread } from '../../../src/server/stores/checkpoint-thread.ts'
import { openDatabase } from '../../../src/server/stores/open-database.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

async function setUp() {
  const folder = await makeTempDir('checkpoint')
  const path = join(folder.path, 'grains.sqlite')
  const migrations = ['CREATE TABLE grains (name TEXT PRIMARY KEY, sack BLOB) STRICT;']
  const database = openDatabase({ path, migrations, checkpointPages: 1_000_000 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const thread = createCheckpointThread(path, 3, resolve)
  onTestFinished(async () => {
    thread.dispose()
    database.dispose()
    await folder.remove()
  })
  const write = (name: string): void => {
    database.write(() => database.statement('INSERT INTO grains VALUES (?, ?)').run(name, Buffer.alloc(100_000)))
    thread.wrote()
  }
  return { path, database, write, done: promise }
}

test('what was written reaches the file behind so many writes, while others go on writing', async () => {
  const { path, database, write, done } = await setUp()
  for (const name of ['rye', 'oats']) write(name)
  const before = statSync(path).size
  write('barley')
  write('tea')
  await done
  expect(before).toBeLessThan(100_000)
  expect(statSync(path).size).toBeGreaterThan(300_000)
  write('salt')
  expect(database.statement('SELECT count(*) AS count FROM grains').get()).toEqual({ count: 5 })
})
