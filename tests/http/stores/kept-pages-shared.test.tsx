/** Kept pages of two instances that share a Redis. */
import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { counted, drop, numberOf, statusOf, visit } from '../../support/kept-pages.tsx'
import { findProgram } from '../../support/programs.ts'
import { startRedis } from '../../support/redis-server.ts'
import { tinyApp } from '../../support/tiny-app.tsx'

const PATIENCE = { timeout: 10_000 } // Redis starts, stops and is connected to

function instance(url: string) {
  const { state, route } = counted(undefined, { seconds: 600, staleSeconds: 600 })
  const site = tinyApp({
    routes: { '/': route, '/drop': drop },
    environment: { REDIS_URL: url, SECRET_KEYS: 'a-key-for-tests-of-some-length' },
  })
  return { site, state }
}

async function untilKept({ site }: ReturnType<typeof instance>): Promise<void> {
  await expect.poll(async () => statusOf(await visit(site)), PATIENCE).toContain('hit')
}

test.skipIf(findProgram('redis-server') === undefined)(
  'what one instance drops is gone in the other, and one that hears nothing sends nothing kept',
  async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const [one, other] = [instance(redis.url), instance(redis.url)]
    await untilKept(one)
    await untilKept(other)
    const [mine, theirs] = [numberOf(await visit(one.site)), numberOf(await visit(other.site))]

    await request(one.site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
    expect(numberOf(await visit(one.site))).not.toBe(mine)
    await expect.poll(async () => numberOf(await visit(other.site)), PATIENCE).not.toBe(theirs)
    await untilKept(one)
    await untilKept(other)
    const before = numberOf(await visit(other.site))

    await redis.stop()
    await expect
      .poll(async () => statusOf(await visit(other.site)), PATIENCE)
      .toBe('Millrace; fwd=bypass; detail="drops unheard"')
    expect(numberOf(await visit(other.site))).not.toBe(before)
    const made = other.state.made
    await visit(other.site)
    expect(other.state.made).toBe(made + 1)

    await redis.start()
    await untilKept(other)
    // What it has kept before may have been dropped meanwhile.
    expect(numberOf(await visit(other.site))).not.toBe(before)
  },
)
