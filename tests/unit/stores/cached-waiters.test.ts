import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createDataCache } from '../../../src/server/stores/cache/data-cache.ts'

test.for<readonly [what: string, settle: (call: PromiseWithResolvers<number>) => void]>([
  ['made', (call) => call.resolve(7)],
  ['not made', (call) => call.reject(new Error('down'))],
])(
  'a value that is %s lets those who have waited for it go on in several turns of the event loop',
  async ([, settle]) => {
    const cache = createDataCache({
      buildId: 'test',
      redis: undefined,
      log: pino({ level: 'silent' }),
      now: () => 1_000_000,
    })
    const call = Promise.withResolvers<number>()
    const reader = { pathname: '/', used: () => undefined, failed: () => undefined }
    const read = () => cache.read({ key: 'k', options: { seconds: 60 }, read: () => call.promise }, reader)
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
    const asked = Array.from({ length: 4 }, () => read().then(work, work))
    count()
    settle(call)
    await Promise.all(asked)
    // The one for whom it was made may share its turn with the first who has waited.
    expect(new Set(seen).size).toBeGreaterThanOrEqual(3)
  },
)
