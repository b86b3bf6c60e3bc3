import { expect, test } from 'vitest'
import { limitedRead } from '../../../src/server/stores/cache/value-source.ts'

test('a source that never answers is given up, and told so', async () => {
  const told = Promise.withResolvers<unknown>()
  const never = limitedRead(
    'gauge',
    ({ signal }) => {
      signal.addEventListener('abort', () => told.resolve(signal.reason))
      return new Promise<never>(() => undefined)
    },
    1,
  )
  await expect(never).rejects.toThrow('cached(gauge) has taken longer than 1 ms')
  expect(await told.promise).toMatchObject({ name: 'TimeoutError' })
})
