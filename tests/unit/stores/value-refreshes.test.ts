import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createDataCache } from '../../../src/server/stores/cache/data-cache.ts'

/** Values that are all stale, and their readings in progress. */
async function staleWorld(count: number) {
  const world = { now: 1_000_000 }
  const log = pino({ level: 'silent' })
  const cache = createDataCache({ buildId: 'test', redis: undefined, log, now: () => world.now })
  const running = new Map<string, PromiseWithResolvers<number>>()
  let isSlow = false
  const ask = (key: string, address?: string): Promise<number> => {
    const read = (): number | Promise<number> => {
      if (!isSlow) return 1
      const call = Promise.withResolvers<number>()
      running.set(key, call)
      return call.promise
    }
    const reader = { pathname: '/', of: {}, used: () => undefined, failed: () => undefined }
    const call = { key, options: { seconds: 60, staleSeconds: 600 }, read }
    return cache.read(call, address === undefined ? reader : { ...reader, address })
  }
  for (let at = 0; at < count; at += 1) await ask(`k${at}`)
  world.now += 61_000
  isSlow = true
  return { ask, running }
}

test('of 300 stale values for which one client asks at once, 16 are refreshed, and room is left for others', async () => {
  const { ask, running } = await staleWorld(300)
  const all = await Promise.all(Array.from({ length: 200 }, (_, at) => ask(`k${at}`, '192.0.2.1')))
  expect([new Set(all), running.size]).toEqual([new Set([1]), 16])
  expect(await ask('k250', '192.0.2.2')).toBe(1)
  expect([...running.keys()].at(-1)).toBe('k250')
  for (let at = 0; at < 100; at += 1) await ask(`k${at + 100}`, `198.51.100.${at}`)
  expect(running.size).toBe(32)
})

test('a value that was not refreshed is, once others are done, whether they failed or not', async () => {
  const { ask, running } = await staleWorld(40)
  for (let at = 0; at < 40; at += 1) await ask(`k${at}`, '192.0.2.1')
  expect(running.has('k30')).toBe(false)
  for (const [at, { resolve, reject }] of [...running.values()].entries()) {
    if (at % 2 === 0) resolve(2)
    else reject(new Error('down'))
  }
  await new Promise(setImmediate)
  running.clear()
  expect(await ask('k30', '192.0.2.1')).toBe(1)
  running.get('k30')?.resolve(3)
  await new Promise(setImmediate)
  expect(await ask('k30', '192.0.2.1')).toBe(3)
  for (let at = 16; at < 40; at += 1) await ask(`k${at}`, '192.0.2.1')
  expect(running.size).toBe(17)
})
