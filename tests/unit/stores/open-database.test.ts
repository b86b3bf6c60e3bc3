import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type Database, type TransactionPart } from '../../../src/server/stores/open-database.ts'
import { openingFault } from '../../../src/server/stores/opening-fault.ts'
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

  it('names the statement of a migration that fails, with the words of SQLite, and never the way to an empty file', () => {
    notes(open([FIRST]))
    const faults: readonly (readonly [migration: string, message: string])[] = [
      [
        'CREATE TABEL mills (id)',
        'migration 2 of 2 failed: near "TABEL": syntax error, in CREATE TABEL mills (id). Corr',
      ],
      [
        "CREATE TABLE mills (id);\n-- why; not\nINSERT INTO\n  mils VALUES ('a;b');\nDROP TABLE mills",
        "migration 2 of 2 failed: no such table: mils, in INSERT INTO mils VALUES ('a;b'). Corr",
      ],
      [
        "INSERT INTO notes VALUES ('kept; once'); INSERT INTO notes VALUES (NULL); SELECT 1",
        'migration 2 of 2 failed: NOT NULL constraint failed: notes.text, in INSERT INTO notes VALUES (NULL);. Corr',
      ],
      [
        'CREATE TABLE mills (id); /* now */ COMMIT; CREATE TABLE mills (id)',
        'migration 2 of 2 has the statement COMMIT. ',
      ],
      ['VACUUM', 'migration 2 of 2 failed: cannot VACUUM from within a transaction, in VACUUM. Corr'],
      [
        `SELECT ${'x'.repeat(300)}`,
        `in SELECT ${'x'.repeat(193)}…. Correct the statement; the file is as it was before`,
      ],
    ]
    for (const [migration, message] of faults) {
      expect(() => notes(open([FIRST, migration]))).toThrow(message)
      expect(() => notes(open([FIRST, migration]))).not.toThrow(/\bmove\b|empty|delete/)
      expect(notes(open([FIRST]))).toEqual([])
    }
  })

  it('refuses a migration that was changed after it ran, but not its spaces and comments', () => {
    const trigger = "CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 'a  b'; END; -- and ;"
    notes(open([FIRST, trigger]))
    const reformatted = "\n  CREATE TRIGGER t AFTER\n  INSERT ON notes /* then */ BEGIN SELECT 'a  b'; END;"
    expect(notes(open([FIRST, reformatted, SECOND]))).toEqual([])
    expect(() => notes(open([FIRST, trigger.replace('a  b', 'a b'), SECOND]))).toThrow(
      /notes\.sqlite: migration 2 of 3 was changed after this file had run it, .*: CREATE TRIGGER t .*append a migration/,
    )
    expect(() => notes(open([FIRST.replace('text', 'words'), trigger, SECOND, 'SELEC']))).toThrow(
      'migration 1 of 4 was',
    )
  })

  it('takes the migrations of a file that another tool has counted as they are', () => {
    notes(open([FIRST, SECOND]))
    const database = open([FIRST, SECOND])
    database.statement('DROP TABLE millrace_migrations').run()
    expect(notes(open([`${FIRST}, STRICT`, SECOND]))).toEqual([])
    expect(() => notes(open([FIRST, SECOND]))).toThrow('migration 1 of 2 was changed')
  })

  it('of a newer version is refused with the way out, and left alone', () => {
    notes(open([FIRST, SECOND]))
    expect(() => notes(open([FIRST]))).toThrow(
      /notes\.sqlite: was written by a newer version of the application: it has 2 migrations, this version knows 1\. Start/,
    )
    expect(notes(open([FIRST, SECOND]))).toEqual([])
  })

  it('that is none is refused with the way out, and left alone', async () => {
    const path = join(folder.path, 'notes.sqlite')
    await writeFile(path, 'These are notes, but no database. '.repeat(40))
    expect(() => notes(open([FIRST], path))).toThrow(
      /notes\.sqlite: is not an SQLite database, and is left alone: correct the path.* \(.*not a database\)$/,
    )
    expect((await stat(path)).size).toBe(1_360)
  })

  it('that is damaged, a folder, or in a folder that cannot be made says so', async () => {
    const path = join(folder.path, 'data', 'notes.sqlite')
    const first = open()
    notes(first)
    first.dispose()
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(7, 100, 2_000))
    expect(() => notes(open())).toThrow(
      /notes\.sqlite: is damaged\. Keep the file .* \(database disk image is malformed\)$/,
    )
    expect(await readFile(path)).toEqual(bytes)
    expect(() => notes(open([FIRST], join(folder.path, 'data')))).toThrow(
      /data: is a folder: name a file in it \(EISDIR/,
    )
    expect(() => notes(open([FIRST], join(path, 'b.sqlite')))).toThrow('is inside of a file and not a folder')
    expect(() => notes(open([FIRST], '/proc/millrace/notes.sqlite'))).toThrow('is in a folder that cannot be made')
  })

  it('that another process holds while it migrates says so, and is opened once it is free', async () => {
    const path = join(folder.path, 'data', 'notes.sqlite')
    notes(open())
    const holder = new DatabaseSync(path)
    holder.exec('BEGIN IMMEDIATE')
    const database = open([FIRST, SECOND])
    expect(() => notes(database)).toThrow(/is locked by another process, .* \(database is locked\)$/)
    holder.close()
    expect(notes(database)).toEqual([])
  })

  it.each([
    [{ code: 'EACCES' }, 'give the file and its folder to the user of the server'],
    [{ code: 'EROFS' }, 'is on a read-only file system'],
    [{ code: 'ENOSPC' }, 'the disk is full. Make room'],
    [{ code: 'EMFILE' }, 'ulimit -n'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'the disk is full. Make room'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 1_032 }, 'cannot be written: make the file, its log'], // READONLY_DBMOVED
    [{ code: 'ERR_SQLITE_ERROR', errcode: 2_570 }, 'check the disk'], // IOERR_TRUNCATE
    [{ code: 'ERR_SQLITE_ERROR', errcode: 999 }, 'cannot be opened as a database (no luck)'],
  ])('has its own way out for %j, which risks nothing', (detail, wayOut) => {
    const fault = openingFault(Object.assign(new Error('no luck'), detail))
    expect(fault).toContain(wayOut)
    expect(fault).toMatch(/ \(no luck\)$/)
    expect(fault).not.toMatch(/\bmove\b|delete|empty/)
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
    // As a copy of a running server's files has them, with the log.
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
    expect(() => notes(database)).toThrow(/notes\.sqlite: is inside of a file and not a folder: .* \(EEXIST/)
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
