import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openDelivery } from '../../../src/server/reports/delivery/delivery.ts'
import { createRateLimitState } from '../../../src/server/reports/delivery/rate-limit-state.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createReportCounts } from '../../../src/server/reports/report-counts.ts'
import { createInbox } from '../../../src/server/reports/inbox/inbox-store.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import { createDiskRoom, LEAST_FREE_BYTES, type DiskRoom } from '../../../src/server/stores/disk-room.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import type { AcceptedEnvelope } from '../../../src/server/reports/intake/accepted-envelope.ts'
import { sampleEnvelope } from './sample-envelope.ts'

const PLENTY = 134_217_728
const NO_FILE: Pick<Database, 'statement'> = {
  statement() {
    throw new Error('not opened')
  },
}
const has = (room: DiskRoom, bytes = 0, file = NO_FILE): boolean =>
  room.write(file, bytes, () => undefined) !== undefined

test('room is scarce below 16 MiB, and the disk is looked at four times a second at most while it has plenty', () => {
  const disk = { free: LEAST_FREE_BYTES + PLENTY, all: 1e12, looks: 0, now: 0 }
  const look = () => {
    disk.looks += 1
    return disk
  }
  const room = createDiskRoom('/data', look, () => disk.now)
  expect(has(room)).toBe(true)
  disk.free = LEAST_FREE_BYTES - 1
  disk.now = 249
  expect([has(room), disk.looks]).toEqual([true, 1])
  disk.now = 250
  expect([has(room), disk.looks]).toEqual([false, 2])
  disk.free += 1
  expect([has(room), disk.looks]).toEqual([true, 3])
  disk.free -= 1
  expect([has(room), disk.looks]).toEqual([false, 4])
})

test.for([
  ['a sixteenth', 200_000_000, 12_500_000],
  ['as much as two logs get long', 40_000_000, 8_388_608],
  ['a quarter', 20_000_000, 5_000_000],
] as const)('of a small disk, %s is kept free', ([, all, kept]) => {
  const isFree = (free: number): boolean => has(createDiskRoom('/data', () => ({ free, all })))
  expect([kept, kept - 1].map(isFree)).toEqual([true, false])
})

test('the room of this disk is known, and of a folder that is not there nothing is said', async () => {
  const folder = await makeTempDir('room')
  onTestFinished(() => folder.remove())
  expect(has(createDiskRoom(folder.path))).toBe(true)
  expect(has(createDiskRoom(`${folder.path}/missing`))).toBe(true)
})

test('what is written counts twice, in the log and in the file, while it is written', async () => {
  const room = createDiskRoom('/data', () => ({ free: LEAST_FREE_BYTES + 1_000, all: 1e12 }))
  expect([has(room, 501), has(room, 500)]).toEqual([false, true])
  await Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<string>()
  const first = room.write(NO_FILE, 400, () => promise)
  expect([has(room, 101), has(room, 100)]).toEqual([false, true])
  resolve('done')
  expect(await first).toBe('done')
  await new Promise(setImmediate)
  await expect(room.write(NO_FILE, 400, () => Promise.reject(new Error('in vain')))).rejects.toThrow('in vain')
  expect(has(room, 500)).toBe(true)
})

test('what no checkpoint has written into its file counts, and a refusal begins one', async () => {
  const folder = await makeTempDir('room')
  const room = createDiskRoom('/data', () => ({ free: LEAST_FREE_BYTES + 5_000_000, all: 1e12 }))
  const file = openReportDatabase(folder.path)
  onTestFinished(async () => {
    file.dispose()
    await folder.remove()
  })
  expect(room.counting(file, () => void file.statement('PRAGMA wal_checkpoint(PASSIVE)').get())).toBe(file)
  const spool = createSpool(file, { destination: 'x' })
  const body = Buffer.alloc(100_000, 'x')
  for (let kept = 0; kept < 60; kept += 1) await spool.accept({ ...sampleEnvelope(), body })
  expect([has(room), has(room)]).toEqual([false, true])
})

test('what a file and its log can use again is room: an emptied spool takes reports on a disk without any', async () => {
  const folder = await makeTempDir('room')
  const file = openReportDatabase(folder.path)
  onTestFinished(async () => {
    file.dispose()
    await folder.remove()
  })
  const asked: string[] = []
  const watched = { statement: (sql: string) => (asked.push(sql), file.statement(sql)) }
  const checkpoint = () => void file.statement('PRAGMA wal_checkpoint(PASSIVE)').get()
  const disk = { free: 1e9, all: 1e12 }
  const room = createDiskRoom(folder.path, () => disk)
  expect([has(room, 1, watched), asked]).toEqual([true, []])
  disk.free = LEAST_FREE_BYTES
  const scarce = createDiskRoom(folder.path, () => disk)
  const spool = createSpool(file, { destination: 'x' })
  const body = Buffer.alloc(100_000, 'x')
  for (let kept = 0; kept < 60; kept += 1) spool.accept({ ...sampleEnvelope(), body })
  checkpoint()
  expect(has(scarce, 100_000, watched), 'no page of the file is free').toBe(false)
  for (const kind of spool.kinds()) for (const entry of spool.list(kind, 0, 100)) spool.settle(entry)
  checkpoint()
  expect([2_000_000, 20_000_000].map((bytes) => has(scarce, bytes, watched))).toEqual([true, false])

  disk.free = LEAST_FREE_BYTES / 2 - 1
  expect(has(scarce, 2_000_000, watched), 'half of the reserve is gone').toBe(false)
  disk.free = LEAST_FREE_BYTES

  // The log has begun again, and what follows its first pages is free.
  spool.accept({ ...sampleEnvelope(), body })
  expect([2_000_000, 20_000_000].map((bytes) => has(scarce, bytes, watched))).toEqual([true, false])

  // Half of it is in use, and none of that in the file.
  for (let kept = 0; kept < 50; kept += 1) spool.accept({ ...sampleEnvelope(), body })
  expect(has(scarce, 2_000_000, watched)).toBe(false)
})

test('a disk that says no size has room: file systems in memory without a limit', () => {
  const { statfsSync } = fs
  fs.statfsSync = (() => ({ bavail: 0, blocks: 0, bsize: 4_096 })) as unknown as typeof statfsSync
  syncBuiltinESMExports()
  onTestFinished(() => {
    fs.statfsSync = statfsSync
    syncBuiltinESMExports()
  })
  expect(has(createDiskRoom('/data'), 1_000)).toBe(true)
})

test('of a small disk, everything but sessions leaves all of the reserve', () => {
  const room = createDiskRoom('/data', () => ({ free: 3_000_000, all: 60_000_000 }))
  expect(room.write(NO_FILE, 100_000, () => undefined, { leaves: 1 / 2 })).toBeUndefined()
})

test('a write that leaves only a part of the reserve has room where others have none', () => {
  const room = createDiskRoom('/data', () => ({ free: LEAST_FREE_BYTES * 0.75, all: 1e12 }))
  expect(has(room)).toBe(false)
  expect(room.write(NO_FILE, 100_000, () => undefined, { leaves: 1 / 2 })).toBeDefined()
  expect(room.write(NO_FILE, LEAST_FREE_BYTES / 4, () => undefined, { leaves: 1 / 2 })).toBeUndefined()
})

const STORES = {
  spool(file: Database) {
    const spool = createSpool(file, { destination: 'x' })
    return { accept: spool.accept, free: spool.free, held: () => spool.size().bytes }
  },
  inbox(file: Database) {
    const inbox = createInbox(file)
    const sum = (): number => Number(file.statement('SELECT bytes FROM inbox_totals').get()?.['bytes'])
    return { accept: inbox.accept, free: inbox.free, held: sum }
  },
}

test.each(['spool', 'inbox'] as const)(
  'on a full disk, the client with most in the %s loses its oldest',
  async (of) => {
    const folder = await makeTempDir('room')
    const file = openReportDatabase(folder.path)
    onTestFinished(async () => {
      file.dispose()
      await folder.remove()
    })
    const store = STORES[of](file)
    const from = (client: string, bytes: number): AcceptedEnvelope => {
      const body = Buffer.concat([sampleEnvelope().body, Buffer.alloc(bytes, '\n')])
      return { ...sampleEnvelope(), client, body }
    }
    const room = createDiskRoom(folder.path, () => ({ free: LEAST_FREE_BYTES, all: 1e12 }))
    const write = (envelope: AcceptedEnvelope) =>
      room.write(file, envelope.body.length, () => store.accept(envelope), {
        free: (bytes) => store.free(envelope, bytes),
      })
    for (let kept = 0; kept < 60; kept += 1) store.accept(from('greedy', 200_000))
    file.statement('PRAGMA wal_checkpoint(PASSIVE)').get()
    const small = store.held()
    expect(write(from('honest', 10_000)), 'nobody has filled the disk with that').toBeUndefined()
    expect(store.held()).toBe(small)

    for (let kept = 0; kept < 40; kept += 1) store.accept(from('greedy', 200_000))
    file.statement('PRAGMA wal_checkpoint(PASSIVE)').get()
    const before = store.held()
    expect(room.write(file, 10_000, () => undefined)).toBeUndefined()
    await expect(write(from('honest', 10_000))).resolves.toBeUndefined()
    expect(store.held()).toBeLessThan(before)
    const after = store.held()
    await expect(write(from('honest', 10_000))).resolves.toBeUndefined()
    expect(store.held(), 'what was freed lasts for more than one').toBeGreaterThan(after)

    // Nobody else has as much: of a smaller client, nothing goes.
    file.statement('PRAGMA wal_checkpoint(PASSIVE)').get()
    expect(write(from('greediest', 14_000_000))).toBeUndefined()
    expect(store.held()).toBeGreaterThan(after)
  },
)

test('reports leave the last bytes of a disk to sessions', async () => {
  const folder = await makeTempDir('room')
  const disk = { free: 0, all: 1e12 }
  const room = createDiskRoom(folder.path, () => disk)
  const upstream = { send: () => new Promise<never>(() => undefined) }
  const parts = { limits: createRateLimitState(), counts: createReportCounts(), log: pino({ level: 'silent' }) }
  const delivery = openDelivery(
    { destination: 'x', upstream: upstream as never, ...parts },
    { dataDir: folder.path, room },
  )
  onTestFinished(async () => {
    delivery.dispose()
    await folder.remove()
  })
  await expect(delivery.accept(sampleEnvelope())).rejects.toMatchObject({ name: 'SpoolFullError', limit: 'disk' })
  expect(await delivery.levels()).toMatchObject([{ envelopes: 0 }])
  disk.free = 1e9
  await delivery.accept(sampleEnvelope())
  expect(await delivery.levels()).toMatchObject([{ envelopes: 1 }])
})
