/** What a process does beside SQLite must not take away its locks: files of several processes would be damaged. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDiskRoom } from '../../../src/server/stores/disk-room.ts'
import { openDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const LOCKS = '/proc/locks' // https://man7.org/linux/man-pages/man5/proc_locks.5.html

/** The locks that this process has on the file and on the index of its log. */
function locksOf(path: string): readonly string[] {
  const inodes = new Map([path, `${path}-shm`].map((file) => [String(statSync(file).ino), file.slice(path.length)]))
  return readFileSync(LOCKS, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, , , kind, pid, place = '', from, to] = line.trim().split(/\s+/)
      const file = inodes.get(place.split(':')[2] ?? '')
      return Number(pid) === process.pid && file !== undefined ? [`${kind} file${file} ${from}-${to}`] : []
    })
    .toSorted()
}

/** What another process gets for a statement on the file. */
function elsewhere(path: string, sql: string): string {
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    const database = new DatabaseSync(process.argv[1], { timeout: 0 })
    try {
      console.log(JSON.stringify(database.prepare(process.argv[2]).get()))
    } catch (error) {
      console.log(error.message)
    }`
  return spawnSync(process.execPath, ['-e', script, path, sql], { encoding: 'utf8' }).stdout.trim()
}

async function openFile() {
  const folder = await makeTempDir('locks')
  const path = join(folder.path, 'locks.sqlite')
  const opened: Database[] = []
  const open = (): Database => {
    const database = openDatabase({ path, migrations: ['CREATE TABLE texts (text TEXT)'] })
    database.statement('SELECT count(*) FROM texts').get()
    opened.push(database)
    return database
  }
  onTestFinished(async () => {
    for (const database of opened) database.dispose()
    await folder.remove()
  })
  const database = open()
  /** Looks each time, at a disk that is full. */
  const room = createDiskRoom(folder.path, () => ({ free: 0, all: 1e12 }))
  room.counting(database)
  return { path, open, database, room }
}

test('looking for room on the disk keeps the lock of a transaction', async () => {
  const { path, database, room } = await openFile()
  const insert = "INSERT INTO texts VALUES ('elsewhere') RETURNING text"
  database.write(() => {
    database.statement("INSERT INTO texts VALUES ('here')").run()
    room.mayGrow(1)
    void room.write(database, 1_000, () => undefined)
    expect(elsewhere(path, insert)).toBe('database is locked')
  })
  expect(elsewhere(path, insert)).toContain('elsewhere')
})

describe.skipIf(!existsSync(LOCKS))(
  'the locks by which other processes know that a file is in use (only Linux lists them)',
  () => {
    const IN_USE = [expect.stringMatching(/^READ file \d/), expect.stringMatching(/^READ file-shm 128-128/)]

    test('stay when this one looks for room on the disk', async () => {
      const { path, database, room } = await openFile()
      room.mayGrow(1)
      void room.write(database, 1_000, () => undefined)
      expect(locksOf(path)).toEqual(IN_USE)
    })

    test('stay when this one opens the file again, and closes that', async () => {
      const { path, open } = await openFile()
      const again = open()
      expect(locksOf(path)).toEqual(IN_USE)
      again.dispose()
      expect(locksOf(path)).toEqual(IN_USE)
    })
  },
)
