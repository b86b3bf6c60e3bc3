import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createDataCache } from '../../../src/server/stores/cache/data-cache.ts'

test.for<readonly [what: string, keys: readonly string[], settle: (call: PromiseWithResolvers<number>) => void]>([
  ['a value that is made lets those who have waited for it', ['k', 'k', 'k', 'k'], (call) => call.resolve(7)],
  ['a value that is not made lets them', ['k', 'k', 'k', 'k'], (call) => call.reject(new Error('down'))],
  [
    'values that are made at the same moment let those who have made them',
    ['a', 'b', 'c', 'd'],
    (call) => call.resolve(7),
  ],
])('%s go on in several turns of the event loop', async ([, keys, settle]) => {
  const cache = createDataCache({
    buildId: 'test',
    redis: undefined,
    log: pino({ level: 'silent' }),
    now: () => 1_000_000,
  })
  const call = Promise.withResolvers<number>()
  const reader = { pathname: '/', of: {}, used: () => undefined, failed: () => undefined }
  const read = (key: string) => cache.read({ key, options: { seconds: 60 }, read: () => call.promise }, reader)
  const seen: number[] = []
  let turn = 0
  const count = (): void => {
    turn += 1
    if (seen.length < 4) setImmediate(count)
  }
  const work = (): void => {
    seen.push(turn)
    for (const since = performance.now(); performance.now() - since < 6;);
  }
  const asked = keys.map((key) => read(key).then(work, work))
  count()
  settle(call)
  await Promise.all(asked)
  // The one for whom it was made may share its turn with the first who has waited.
  expect(new Set(seen).size).toBeGreaterThanOrEqual(3)
})
