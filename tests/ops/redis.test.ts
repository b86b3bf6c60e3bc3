import { describe, expect, onTestFinished, test } from 'vitest'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { findProgram } from '../support/programs.ts'
import { startRedis } from '../support/redis-server.ts'
import { startLoad } from './visitor-load.ts'

const LIMIT_MS = 120_000 // for hangs only
const VISITORS = 6
const KEYS = 'one-key-for-all-instances-of-this-test'
const METRIC = /^millrace_shared_store_connected (\d)$/m

// Without Redis there is nothing to lose; `scripts/test.ts` says so in one line.
describe.skipIf(findProgram('redis-server') === undefined)('an instance whose Redis goes', () => {
  test('serves pages and takes forms as before, and says so once', { timeout: LIMIT_MS }, async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const server = await startBuiltServer({
      env: { REDIS_URL: redis.url, SECRET_KEYS: KEYS, METRICS_PORT: '0', LOG_LEVEL: 'info' },
    })
    onTestFinished(() => server.kill('SIGKILL'))
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

    await expectStore('1')
    await phase()
    await redis.stop()
    await phase()
    await expectStore('0')
    await redis.start()
    await expectStore('1')
    await phase()
    redis.pause()
    await phase()
    await expectStore('0')
    redis.resume()
    await expectStore('1')
    await phase()

    const { posts, failures } = await load.stop()
    const told = server.logs().filter(({ msg }) => String(msg).includes('the shared store'))
    print(
      `answers with Redis, stopped, started, hanging, going on: ${counts.join(', ')}; ${posts} forms among them; ` +
        `${failures.length} failed; ${told.length} log lines`,
    )
    expect(failures).toEqual([])
    expect(posts).toBeGreaterThan(50)
    expect(told.map(({ msg }) => msg)).toEqual([
      'the shared store cannot be reached',
      'the shared store is there again',
      'the shared store cannot be reached',
      'the shared store is there again',
    ])
    await server.stop()
  })

  test('starts without it, too', { timeout: LIMIT_MS }, async () => {
    const server = await startBuiltServer({ env: { REDIS_URL: 'redis://:password@127.0.0.1:1', SECRET_KEYS: KEYS } })
    onTestFinished(() => server.kill('SIGKILL'))
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

/** The numbers are part of the result, whether it holds or not. */
function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
