import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type Database, type TransactionPart } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const FIRST = 'CREATE TABLE notes (text TEXT NOT NULL) STRICT'
const SECOND = "ALTER TABLE notes ADD COLUMN author TEXT NOT NULL DEFAULT 'nobody'"
const MODULE = resolve(import.meta.dirname, '../../../src/server/stores/open-database.ts')

let folder: TempDir
let opened: Database[]

beforeEach(async () => {
  folder = await makeTempDir('database')
  opened = []
})
afterEach(async () => {
  for (const database of opened) database.dispose()
  await folder.remove()
})

function open(migrations: readonly string[] = [FIRST], path = join(folder.path, 'data', 'notes.sqlite')): Database {
  const database = openDatabase({ path, migrations })
  opened.push(database)
  return database
}

const notes = (database: Database): unknown[] =>
  database
    .statement('SELECT * FROM notes')
    .all()
    .map((row) => ({ ...row }))

/** Somebody else makes the file at this moment: in a transaction that goes on for 200 ms. */
const MAKER = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(workerData)
database.exec('BEGIN IMMEDIATE; CREATE TABLE others (text TEXT)')
parentPort.postMessage('held')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
database.exec('COMMIT')
database.close()
`

describe('a part of a transaction', () => {
  const part = (database: Database, written: number[]): TransactionPart<{ count: number }> => ({
    begin: () => ({ count: Number(database.statement('SELECT count(*) AS count FROM notes').get()?.['count']) }),
    finish: ({ count }) => void written.push(count),
  })

  it('is read once and written once, whatever is nested in it', () => {
    const database = open()
    const written: number[] = []
    const counted = part(database, written)
    const add = (): void => {
      database.statement("INSERT INTO notes VALUES ('one more')").run()
      database.write(() => (database.during(counted).count += 1))
    }
    database.write(() => {
      database.during(counted)
      add()
      add()
    })
    expect(written).toEqual([2])
    database.write(() => database.during(counted))
    expect(written).toEqual([2, 2])
  })

  it('is forgotten with what is undone, and there is none outside', () => {
    const database = open()
    const written: number[] = []
    const counted = part(database, written)
    const fail = (): void => {
      database.during(counted).count += 1
      throw new Error('undone')
    }
    expect(() => database.write(fail)).toThrow('undone')
    database.write(() => database.during(counted))
    expect(written).toEqual([0])
    expect(() => database.during(counted)).toThrow('no transaction')
  })

  it('undoes all when it cannot be written', () => {
    const database = open()
    const full: TransactionPart<object> = {
      begin: () => ({}),
      finish: () => {
        throw new Error('full')
      },
    }
    const write = (): void => {
      database.statement("INSERT INTO notes VALUES ('lost')").run()
      database.during(full)
    }
    expect(() => database.write(write)).toThrow('full')
    expect(notes(database)).toEqual([])
  })
})

describe('a database file', () => {
  it('is waited for while another process makes it', async () => {
    const path = join(folder.path, 'shared.sqlite')
    const maker = new Worker(MAKER, { eval: true, workerData: path })
    const ended = new Promise((resolve) => maker.once('exit', resolve))
    await new Promise((resolve) => maker.once('message', resolve))
    const database = open([FIRST], path)
    database.write(() => database.statement('INSERT INTO notes VALUES (?)').run('kept'))
    expect(database.statement('SELECT text FROM notes').all()).toEqual([{ text: 'kept' }])
    await ended
  })

  it('is made by its first use, in a folder for nobody else, and not before', async () => {
    const database = open()
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
    expect(notes(database)).toEqual([])
    expect((await stat(join(folder.path, 'data'))).mode & 0o777).toBe(0o700)
  })

  it('waits for no fsync, and lets others read while one writes', () => {
    const database = open()
    expect(database.statement('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' })
    expect(database.statement('PRAGMA synchronous').get()).toMatchObject({ synchronous: 1 })
    expect(database.statement('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 2_000 })
    const reader = open()
    database.write(() => {
      database.statement("INSERT INTO notes VALUES ('a')").run()
      expect(notes(reader)).toEqual([])
    })
    expect(notes(reader)).toEqual([{ text: 'a' }])
  })

  it('undoes a transaction that throws, and goes on working', () => {
    const database = open()
    const insert = (): unknown => database.statement("INSERT INTO notes VALUES ('a')").run()
    expect(() =>
      database.write(() => {
        insert()
        throw new RangeError('no')
      }),
    ).toThrow(new RangeError('no'))
    expect(notes(database)).toEqual([])
    expect(database.write(() => (insert(), 'written'))).toBe('written')
    expect(notes(database)).toHaveLength(1)
  })

  it('gets new columns without losing what it holds', () => {
    const before = open([FIRST])
    before.statement("INSERT INTO notes VALUES ('a')").run()
    before.dispose()
    expect(notes(open([FIRST, SECOND]))).toEqual([{ text: 'a', author: 'nobody' }])
    expect(notes(open([FIRST, SECOND]))).toEqual([{ text: 'a', author: 'nobody' }])
  })

  it('stays at its version when a migration fails half-way', () => {
    expect(() => notes(open([FIRST, `${SECOND}; CREATE TABLE notes (x)`]))).toThrow('already exists')
    expect(() => notes(open([]))).toThrow('no such table')
    expect(notes(open([FIRST, SECOND]))).toEqual([])
  })

  it('of a newer version is refused with the way out, and left alone', () => {
    notes(open([FIRST, SECOND]))
    expect(() => notes(open([FIRST]))).toThrow(
      /notes\.sqlite: was written by a newer version of the application \(tables of version 2, known are 1\); start that/,
    )
    expect(notes(open([FIRST, SECOND]))).toEqual([])
  })

  it('that is none is refused with the way out, and left alone', async () => {
    const path = join(folder.path, 'notes.sqlite')
    await writeFile(path, 'These are notes, but no database. '.repeat(40))
    expect(() => notes(open([FIRST], path))).toThrow(
      /notes\.sqlite: cannot be opened as a database \(.*not a database\); check DATA_DIR/,
    )
    expect((await stat(path)).size).toBe(1_360)
  })

  it('can be read and written by its owner alone, and so can its log, whoever made the file', async () => {
    const path = join(folder.path, 'data', 'notes.sqlite')
    const modes = async (): Promise<string[]> => {
      const names = await readdir(join(folder.path, 'data'))
      const stats = await Promise.all(names.map((name) => stat(join(folder.path, 'data', name))))
      return names.map((name, at) => `${name} ${((stats[at]?.mode ?? 0) & 0o777).toString(8)}`)
    }
    const expected = ['notes.sqlite 600', 'notes.sqlite-shm 600', 'notes.sqlite-wal 600']
    const first = open()
    first.statement("INSERT INTO notes VALUES ('a')").run()
    expect((await modes()).toSorted()).toEqual(expected)
    // As a former version has left them, with its log: by a process that did not close the file.
    for (const suffix of ['', '-wal', '-shm']) await chmod(path + suffix, 0o664)
    const second = open()
    expect(notes(second)).toEqual([{ text: 'a' }])
    expect((await modes()).toSorted()).toEqual(expected)
    expect((await stat(join(folder.path, 'data'))).mode & 0o777).toBe(0o700)
  })

  it('is tried again after its folder has been put right', async () => {
    const path = join(folder.path, 'data', 'notes.sqlite')
    await writeFile(join(folder.path, 'data'), 'in the way')
    const database = open([FIRST], path)
    expect(() => notes(database)).toThrow(/notes\.sqlite: cannot be opened .*; check DATA_DIR/)
    await rm(join(folder.path, 'data'))
    await mkdir(join(folder.path, 'data'))
    expect(notes(database)).toEqual([])
  })

  it('is whole on the disk once it is closed, and not opened again by a late request', () => {
    const database = open()
    database.statement("INSERT INTO notes VALUES ('a')").run()
    database.dispose()
    database.dispose()
    expect(existsSync(join(folder.path, 'data', 'notes.sqlite-wal'))).toBe(false)
    expect(() => notes(database)).toThrow('is closed')
    expect(() => database.write(() => 1)).toThrow('is closed')
  })

  it('is opened by several processes at once, and loses no write of any', { timeout: 60_000 }, async () => {
    const path = join(folder.path, 'data', 'notes.sqlite')
    const script = `
      import { openDatabase } from ${JSON.stringify(MODULE)}
      const database = openDatabase({ path: ${JSON.stringify(path)}, migrations: [${JSON.stringify(FIRST)}] })
      for (let i = 0; i < 50; i += 1) database.write(() => database.statement('INSERT INTO notes VALUES (?)').run('n'))
    `
    const run = (): Promise<unknown> =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { timeout: 50_000 })
    await Promise.all(Array.from({ length: 4 }, run))
    expect(notes(open())).toHaveLength(200)
  })
})
