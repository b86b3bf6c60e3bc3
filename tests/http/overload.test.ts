import autocannon from 'autocannon'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cpuTicks } from '../bench/server-process.ts'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'

const PATH = '/lab/bench/table?n=1000'
const FOR_ALL = '/lab/shared/1'
const BEST_SECONDS = 3
const OVERLOAD_SECONDS = 6
const TIMES = 10
/**
 * Of the good answers that a tick of the processor gives at best. Ticks and not seconds: what else runs on the machine
 * takes its share of those. Alone on the machine it is 0.6 to 0.9; among other tests the load comes in bursts.
 */
const LEAST_SHARE = 0.35

const hasProc = existsSync('/proc/self/stat')

vi.setConfig({ testTimeout: 60_000 })

/** Good answers a second and a tick, refusals a second, and what was neither. */
async function load({ origin, pid }: BuiltServer, options: Partial<autocannon.Options>) {
  const before = await cpuTicks(pid)
  const result = await autocannon({ url: `${origin}${PATH}`, timeout: 20, ...options })
  const ticks = (await cpuTicks(pid)) - before
  const { duration } = result
  const refused = result.statusCodeStats?.['503']?.count ?? 0
  return {
    good: result['2xx'] / duration,
    goodATick: result['2xx'] / ticks,
    refused: refused / duration,
    other: result.non2xx - refused + result.errors,
    p99: result.latency.p99,
  }
}

test.runIf(hasProc)('under ten times the load it can bear, most of what it can do is still good answers', async () => {
  const server = await startBuiltServer({ env: { LOG_LEVEL: 'warn' } })
  onTestFinished(() => server.kill('SIGKILL'))
  await load(server, { connections: 4, duration: 1 })
  const best = await load(server, { connections: 4, duration: BEST_SECONDS })
  expect([best.refused, best.other]).toEqual([0, 0])

  const state = { done: false }
  const health: { readonly status: number; readonly milliseconds: number }[] = []
  const forAll: { readonly status: number; readonly isKept: boolean }[] = []
  expect((await requestRaw(server.port, getRequest(FOR_ALL))).status).toBe(200)
  const probing = (async () => {
    while (!state.done) {
      const startedAt = performance.now()
      const { status } = await requestRaw(server.port, getRequest('/healthz', { Connection: 'close' }))
      health.push({ status, milliseconds: performance.now() - startedAt })
      await delay(100)
    }
  })()
  const visiting = (async () => {
    while (!state.done) {
      const page = await requestRaw(server.port, getRequest(FOR_ALL, { Connection: 'close' }))
      forAll.push({ status: page.status, isKept: page.header('cache-status') !== undefined })
      await delay(100)
    }
  })()
  const overload = await load(server, {
    connections: 300,
    overallRate: Math.ceil(best.good * TIMES),
    duration: OVERLOAD_SECONDS,
  })
  state.done = true
  await Promise.all([probing, visiting])

  const share = overload.goodATick / best.goodATick
  const slowest = Math.max(...health.map(({ milliseconds }) => milliseconds))
  process.stdout.write(
    `best ${best.good.toFixed(0)}/s; at ${TIMES} times that: ${overload.good.toFixed(0)}/s good (${share.toFixed(2)} a tick), ` +
      `${overload.refused.toFixed(0)}/s refused, p99 ${overload.p99} ms; slowest of ${health.length} probes ${slowest.toFixed(0)} ms; ` +
      `of ${forAll.length} documents for everybody ${forAll.filter(({ isKept }) => isKept).length} were given out again\n`,
  )
  expect(overload.other).toBe(0)
  expect(share).toBeGreaterThan(LEAST_SHARE)
  // Nobody who asks for it waits for the renders: they go on by one each 100 ms and what an answer takes.
  expect(health.length).toBeGreaterThan(OVERLOAD_SECONDS)
  expect(new Set(health.map(({ status }) => status))).toEqual(new Set([200]))
  // A page that is for everybody, and was made lately, is refused to nobody.
  expect(new Set(forAll.map(({ status }) => status))).toEqual(new Set([200]))
  // It is over soon after the load is.
  await expect
    .poll(async () => (await requestRaw(server.port, getRequest('/readyz'))).status, { timeout: 20_000 })
    .toBe(200)
  expect((await requestRaw(server.port, getRequest(PATH))).status).toBe(200)
})
