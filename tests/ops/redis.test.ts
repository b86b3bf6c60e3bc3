import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { resolve } from 'node:path'
import { createClient } from '@redis/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { findProgram } from '../support/programs.ts'
import { startReportSink } from '../support/report-sink.ts'
import { startRedis } from '../support/redis-server.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { startLoad } from './visitor-load.ts'

const LIMIT_MS = 120_000 // for hangs only
const VISITORS = 6
const KEYS = 'one-key-for-all-instances-of-this-test'
const RELAY = '/reports'
const MOST_UNDER_WAY = 16 // envelopes that may be sent again after a kill
const GONE = 'the shared store cannot be reached'
const BACK = 'the shared store is there again'
const METRIC = /^millrace_shared_store_connected (\d)$/m

type Log = ReturnType<BuiltServer['logs']>

// Without Redis there is nothing to lose; `scripts/test.ts` says so in one line.
describe.skipIf(findProgram('redis-server') === undefined)('an instance whose Redis goes', () => {
  test('serves pages and takes forms as before, and says so once', { timeout: LIMIT_MS }, async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const server = await serverOfTest({
      env: { REDIS_URL: redis.url, SECRET_KEYS: KEYS, METRICS_PORT: '0', LOG_LEVEL: 'info' },
    })
    const expectStore = async (value: string): Promise<void> => {
      await expect.poll(() => storeOf(server), { timeout: LIMIT_MS }).toBe(value)
    }
    const load = startLoad({ origin: server.origin, visitors: VISITORS, postEvery: 3 })
    const counts: number[] = []
    const phase = async (): Promise<void> => {
      const before = load.answered()
      await expect.poll(load.answered, { timeout: LIMIT_MS, interval: 20 }).toBeGreaterThanOrEqual(before + 120)
      expect((await fetch(`${server.origin}/readyz`)).status).toBe(200)
      counts.push(load.answered() - before)
    }

    const told = (): Log => server.logs().filter(({ msg }) => String(msg).includes('the shared store'))
    /** Lines from the moment that Redis goes until it comes back. */
    const during: Log[] = []
    const outage = async (begin: () => unknown, end: () => unknown): Promise<void> => {
      const before = told().length
      await begin()
      await phase()
      await expectStore('0')
      during.push(told().slice(before))
      await end()
    }

    await expectStore('1')
    await phase()
    await outage(redis.stop, redis.start)
    await expectStore('1')
    await phase()
    await outage(redis.pause, redis.resume)
    await expectStore('1')
    await phase()

    const { posts, failures } = await load.stop()
    const client = await createClient({ url: redis.url }).connect()
    const keys = await client.keys('*')
    client.destroy()
    // The application's own name, so that another site may have the same Redis.
    expect(keys.length).toBeGreaterThan(0)
    expect(keys.filter((key) => !key.startsWith('millrace:2:0:millrace:'))).toEqual([])
    print(
      `answers with Redis, stopped, started, hanging, going on: ${counts.join(', ')}; ${posts} forms among them; ` +
        `${failures.length} failed; ${told().length} log lines`,
    )
    expect(failures).toEqual([])
    expect(posts).toBeGreaterThan(50)
    expect(during.map((lines) => lines.map(({ msg }) => msg))).toEqual([[GONE], [GONE]])
    const lines = told()
    const complaints = lines.filter(({ msg }) => msg === GONE)
    expect(lines.map(({ msg }) => msg)).toEqual(complaints.flatMap(() => [GONE, BACK]))
    // A busy machine may keep Redis from an answer in time, and for no other reason is it given up.
    const others = complaints.filter((line) => !during.flat().some(({ time }) => time === line['time']))
    const reasons = others.map(({ err }) => (err as { readonly message: string }).message)
    expect(reasons).toEqual(others.map(() => 'The shared store is too slow'))
    await server.stop()
  })

  test('loses no report, whichever of them ends', { timeout: LIMIT_MS }, async () => {
    const redis = await startRedis()
    const sink = await startReportSink()
    onTestFinished(async () => {
      await sink.close()
      await redis[Symbol.asyncDispose]()
    })
    const start = async (): Promise<BuiltServer> => {
      const server = await serverOfTest({
        env: { REDIS_URL: redis.url, SECRET_KEYS: KEYS, SENTRY_DSN: sink.dsn, REPORT_TUNNEL_PATH: RELAY },
      })
      return server
    }
    const [one, other] = [await start(), await start()]
    const ids: string[] = []
    const crashes = async (servers: readonly BuiltServer[], count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        ids.push(await crash(servers[at % servers.length] ?? one, sink.dsn, `127.0.1.${(at % 5) + 1}`))
      }
    }
    const arrived = (): number => sink.accepted().length

    await crashes([one, other], 20)
    await sink.until(() => arrived() === 20)
    await sink.close()
    await crashes([one, other], 40)
    one.kill('SIGKILL')
    await one.exited
    redis.pause()
    await crashes([other], 20)
    await sink.open()
    redis.resume()
    await crashes([other], 20)
    await sink.until(() => arrived() >= ids.length)
    const repeated = sink.requests.length - arrived()
    print(
      `${ids.length} reports accepted while the service, an instance and Redis went; ${arrived()} arrived, ` +
        `${repeated} were sent twice`,
    )
    expect(
      sink
        .accepted()
        .map(({ eventId }) => eventId)
        .toSorted(),
    ).toEqual(ids.toSorted())
    expect(repeated).toBeLessThanOrEqual(MOST_UNDER_WAY)
    await other.stop()
  })

  test('is connected to by its client, which no other instance loads', async () => {
    const folder = resolve(import.meta.dirname, '../../dist/server')
    const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
    const bundles = await Promise.all(files.map((name) => readFile(resolve(folder, name), 'utf8')))
    const text = bundles.join('\n')
    expect(text).toMatch(/import\("@redis\/client"\)/)
    expect(text).not.toMatch(/from\s*"@redis|import\s*"@redis|require\("@redis/)
  })

  test('starts without it, too', { timeout: LIMIT_MS }, async () => {
    const server = await serverOfTest({ env: { REDIS_URL: 'redis://:password@127.0.0.1:1', SECRET_KEYS: KEYS } })
    expect((await fetch(`${server.origin}/lab/guestbook`)).status).toBe(200)
    expect(server.stdout.join('\n')).not.toContain('password')
    await server.stop()
  })
})

/** `'1'` or `'0'`, as the metrics say. */
async function storeOf(server: BuiltServer): Promise<string | undefined> {
  const port = Number(server.logs().find(({ msg }) => msg === 'metrics are served')?.['port'])
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  return METRIC.exec(await answer.text())?.[1]
}

/** Leaves a report from an address of its own. @returns its event id. */
async function crash(server: BuiltServer, dsn: string, localAddress: string): Promise<string> {
  const id = crypto.randomUUID().replaceAll('-', '')
  const payload = Buffer.from(JSON.stringify({ event_id: id, message: 'broken' }))
  const items = [{ type: 'event', header: { type: 'event' }, payload }]
  const body = serializeEnvelope({ header: { event_id: id, dsn }, items })
  const status = await new Promise<number | undefined>((found, reject) => {
    const sent = request(server.origin + RELAY, { method: 'POST', localAddress, agent: false }, (answer) => {
      answer.resume().once('close', () => found(answer.statusCode))
    })
    sent.once('error', reject).end(body)
  })
  expect(status).toBe(200)
  return id
}

/** The numbers are part of the result, whether it holds or not. */
function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
