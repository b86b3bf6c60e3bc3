import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { startReportSink, type ReportSink } from '../../support/report-sink.ts'
import { CRASH, newEventId, startReportServer, type ReportServer } from '../report-setup.ts'

const KEYS = 'one-key-for-all-instances-of-this-test'
const PATIENCE_MS = 30_000 // for hangs only

let redis: RedisServer
let sink: ReportSink

async function startInstance(): Promise<ReportServer> {
  const instance = await startReportServer({ SENTRY_DSN: sink.dsn, REDIS_URL: redis.url, SECRET_KEYS: KEYS })
  await instance.app.redis?.tried
  return instance
}

/** Posts a crash. @returns its event id. */
async function crash(instance: ReportServer): Promise<string> {
  const id = newEventId()
  const { status } = await instance.post(instance.envelope([CRASH], { event_id: id }))
  expect(status).toBe(200)
  return id
}

const arrived = (): (string | undefined)[] => sink.accepted().map(({ eventId }) => eventId)

/** What waits in the instance's own file. */
function ownSize({ dataDir }: ReportServer): number {
  const database = openReportDatabase(dataDir)
  const { envelopes } = createSpool(database, { destination: 'any' }).size()
  database.dispose()
  return envelopes
}

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('reports of instances that share a Redis', () => {
  beforeEach(async () => {
    redis = await startRedis()
    sink = await startReportSink()
  })
  afterEach(async () => {
    await sink.close()
    await redis[Symbol.asyncDispose]()
  })

  test('arrive in order and once, by whichever instance they came', { timeout: PATIENCE_MS }, async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    const ids: string[] = []
    for (let count = 0; count < 10; count += 1) ids.push(await crash(count % 2 === 0 ? one : other))
    await sink.until(() => arrived().length >= ids.length)
    expect(arrived()).toEqual(ids)
    expect(sink.requests).toHaveLength(ids.length)
  })

  test('wait in Redis while the service is down, and not on the disk', { timeout: PATIENCE_MS }, async () => {
    await sink.close()
    const [one, other] = [await startInstance(), await startInstance()]
    const ids = [await crash(one), await crash(other)]
    expect([ownSize(one), ownSize(other)]).toEqual([0, 0])
    // The instances have nothing in their hands that the next ones would miss.
    one.app.dispose()
    other.app.dispose()
    await sink.open()
    await startInstance()
    await sink.until(() => arrived().length >= 2)
    expect(arrived()).toEqual(ids)
  })

  test('are accepted and delivered without Redis, too', { timeout: PATIENCE_MS }, async () => {
    const instance = await startInstance()
    const ids = [await crash(instance)]
    await sink.until(() => arrived().length === 1)
    await redis.stop()
    for (let count = 0; count < 5; count += 1) ids.push(await crash(instance))
    await sink.until(() => arrived().length >= 6)
    await redis.start()
    await expect.poll(() => instance.app.redis?.connected, { timeout: PATIENCE_MS }).toBe(true)
    ids.push(await crash(instance))
    await sink.until(() => arrived().length >= 7)
    expect(arrived().toSorted()).toEqual(ids.toSorted())
    expect(sink.requests).toHaveLength(ids.length)
    const told = instance.logs.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg)
    expect(told).toEqual(['the shared store cannot be reached'])
  })

  test('are delivered by another instance once the one that does has stopped', { timeout: PATIENCE_MS }, async () => {
    const one = await startInstance()
    await crash(one)
    await sink.until(() => arrived().length === 1)
    const other = await startInstance()
    await crash(other)
    await sink.until(() => arrived().length === 2)
    expect(await one.app.reports.flush(AbortSignal.timeout(PATIENCE_MS))).toBe(true)
    await crash(other)
    await sink.until(() => arrived().length === 3)
  })
})
