/** Kept pages in 10,000 random orders of visits, clicks and drops. A failure names its seed and steps. */
import { onTestFinished, test } from 'vitest'
import { expectKeptPrivacy } from '../support/kept-order.tsx'
import { findProgram } from '../support/programs.ts'
import { startRedis } from '../support/redis-server.ts'

/** What a test has opened ends with it, so a few cases each keep memory low. */
const CASES = 250

test.for(Array.from({ length: 36 }, (_, index) => index))(
  'one instance: no mark of a visitor reaches another one, and nothing dropped is sent (%i)',
  () => expectKeptPrivacy(CASES),
)

test.for(Array.from({ length: 4 }, (_, index) => index))(
  'three instances with Redis: the same (%i)',
  async (_, { skip }) => {
    skip(findProgram('redis-server') === undefined, 'Redis is not installed')
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    await expectKeptPrivacy(CASES, redis.url)
  },
)
