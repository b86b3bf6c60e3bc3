import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openDelivery } from '../../../src/server/reports/delivery/delivery.ts'
import { createRateLimitState } from '../../../src/server/reports/delivery/rate-limit-state.ts'
import { createReportCounts } from '../../../src/server/reports/report-counts.ts'
import { createDiskRoom, LEAST_FREE_BYTES } from '../../../src/server/stores/disk-room.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { sampleEnvelope } from './sample-envelope.ts'

test('room is scarce below 16 MiB, and the disk is looked at four times a second at most while it has room', () => {
  const disk = { free: LEAST_FREE_BYTES, all: 1e12, looks: 0, now: 0 }
  const look = () => {
    disk.looks += 1
    return disk
  }
  const room = createDiskRoom('/data', look, () => disk.now)
  expect(room.isScarce).toBe(false)
  disk.free -= 1
  disk.now = 249
  expect([room.isScarce, disk.looks]).toEqual([false, 1])
  disk.now = 250
  expect([room.isScarce, disk.looks]).toEqual([true, 2])
  disk.free += 1
  expect([room.isScarce, disk.looks]).toEqual([false, 3])
})

test('of a small disk, a sixteenth is kept free', () => {
  const isScarce = (free: number): boolean => createDiskRoom('/data', () => ({ free, all: 8_000_000 })).isScarce
  expect([500_000, 499_999].map(isScarce)).toEqual([false, true])
})

test('the room of this disk is known, and of a folder that is not there nothing is said', async () => {
  const folder = await makeTempDir('room')
  onTestFinished(() => folder.remove())
  expect(createDiskRoom(folder.path).isScarce).toBe(false)
  expect(createDiskRoom(`${folder.path}/missing`).isScarce).toBe(false)
})

test('reports leave the last bytes of a disk to sessions', async () => {
  const folder = await makeTempDir('room')
  const room = { isScarce: true }
  const upstream = { send: () => new Promise<never>(() => undefined) }
  const parts = { limits: createRateLimitState(), counts: createReportCounts(), log: pino({ level: 'silent' }) }
  const delivery = openDelivery({ destination: 'x', upstream: upstream as never, ...parts }, folder.path, room)
  onTestFinished(async () => {
    delivery.dispose()
    await folder.remove()
  })
  await expect(delivery.accept(sampleEnvelope())).rejects.toMatchObject({ name: 'SpoolFullError', limit: 'disk' })
  expect(await delivery.levels()).toMatchObject([{ envelopes: 0 }])
  room.isScarce = false
  await delivery.accept(sampleEnvelope())
  expect(await delivery.levels()).toMatchObject([{ envelopes: 1 }])
})
