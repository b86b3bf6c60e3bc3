import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDeliveryLease } from '../../../src/server/reports/delivery/delivery-lease.ts'
import { isOwnerGone, nameOwner } from '../../../src/server/reports/delivery/delivery-owner.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { NOW } from './sample-envelope.ts'

let folder: TempDir
let databases: Database[]

beforeEach(async () => {
  folder = await makeTempDir('lease')
  databases = [openReportDatabase(folder.path), openReportDatabase(folder.path)]
})
afterEach(async () => {
  for (const database of databases) database.dispose()
  await folder.remove()
})

function pair(isGone?: (owner: string) => boolean) {
  const [one, other] = databases.map((database, at) =>
    createDeliveryLease(database, {
      destination: 'service',
      owner: `owner ${at}`,
      lifetimeMs: 3_000,
      ...(isGone === undefined ? {} : { isGone }),
    }),
  )
  if (one === undefined || other === undefined) throw new Error('Two databases make two leases')
  return { one, other }
}

describe('the right to deliver', () => {
  it('is had by one, for as long as it asks often enough', () => {
    const { one, other } = pair()
    for (let at = 0; at < 10_000; at += 500) {
      expect([at, one.hold(NOW + at), other.hold(NOW + at)]).toEqual([at, true, false])
    }
  })

  it('is the next one’s once it has run out, and does not come back by itself', () => {
    const { one, other } = pair()
    one.hold(NOW)
    expect(other.hold(NOW + 2_999)).toBe(false)
    expect(other.hold(NOW + 3_000)).toBe(true)
    expect(one.hold(NOW + 3_001)).toBe(false)
  })

  it('can be given back, by who has it only', () => {
    const { one, other } = pair()
    one.hold(NOW)
    other.release()
    expect(other.hold(NOW)).toBe(false)
    one.release()
    expect(other.hold(NOW)).toBe(true)
  })

  it('goes on at once from a process that is known to be gone', () => {
    const { one, other } = pair((owner) => owner === 'owner 0')
    one.hold(NOW)
    expect(other.hold(NOW)).toBe(true)
    expect(one.hold(NOW + 2_000)).toBe(false)
  })

  it('is another one for each destination', () => {
    const { one } = pair()
    one.hold(NOW)
    const [database] = databases as [Database]
    expect(createDeliveryLease(database, { destination: 'another', owner: 'x' }).hold(NOW)).toBe(true)
  })
})

describe('a process', () => {
  it('is gone once it has ended, and not before', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
    await once(child, 'spawn')
    const owner = nameOwner('x').replace(` ${process.pid} `, ` ${child.pid} `)
    expect(isOwnerGone(owner)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isOwnerGone(owner)).toBe(true)
  })

  it('that had the number of this one before it is gone', () => {
    const owner = nameOwner('x')
    expect(isOwnerGone(owner)).toBe(false)
    expect(isOwnerGone(owner.replace(/x$/, 'y'))).toBe(true)
  })

  it.each(['', 'x', 'other-host pid:[1] 999999 x', 'other-host - 1 x'])('of another place may live: %j', (owner) => {
    expect(isOwnerGone(owner)).toBe(false)
  })
})
