import { access } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { childrenOf, connectionsOf } from '../support/child-processes.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { print } from './print.ts'
import { startLoad } from './visitor-load.ts'

const LIMIT_MS = 120_000 // for hangs only
const VISITORS = 8
const PATIENCE = { timeout: LIMIT_MS, interval: 20 }

const hasProc = await access('/proc/self/task').then(
  () => true,
  () => false,
)

test.runIf(hasProc)(
  'a worker is killed under load: only what it was answering is lost, and another takes its place',
  { timeout: LIMIT_MS },
  async () => {
    const server = await serverOfTest({ env: { WORKERS: '2', LOG_LEVEL: 'warn' } })
    const [first = 0, second = 0] = await childrenOf(server.pid)
    const load = startLoad({ origin: server.origin, visitors: VISITORS, postEvery: 8 })
    await expect.poll(load.answered, PATIENCE).toBeGreaterThan(100)

    const held = await connectionsOf(first, server.port)
    process.kill(first, 'SIGKILL')
    const replaced = async (): Promise<number[]> => (await childrenOf(server.pid)).filter((pid) => pid !== first)
    await expect.poll(async () => (await replaced()).length, PATIENCE).toBe(2)
    expect(await replaced()).toContain(second)
    const before = load.answered()
    await expect.poll(load.answered, PATIENCE).toBeGreaterThan(before + 300)
    const { answered, posts, failures, hurt } = await load.stop()

    print(
      `${answered} answers, ${posts} forms among them; ${failures.length} cut off when one of two workers with ${held} connections was killed`,
    )
    // Each visitor keeps one connection, to one of the workers.
    expect(hurt).toBeLessThanOrEqual(held)
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(VISITORS)
    expect(failures.filter((line) => line.includes('status 5'))).toEqual([])
    expect(server.logs()).toContainEqual(expect.objectContaining({ msg: 'worker has died', signal: 'SIGKILL' }))
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  },
)
