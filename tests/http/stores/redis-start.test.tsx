/** A server takes no visitor before it has tried to reach Redis once. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { defineStoredSession, type LoaderContext } from 'millrace/server'
import { createTestApp } from 'millrace/testing'
import { findProgram } from '../../support/programs.ts'
import { startRedis } from '../../support/redis-server.ts'

const session = defineStoredSession({
  name: 'member',
  schema: z.object({ user: z.string() }),
  user: ({ user }) => user,
})

function appWith(url: string, start?: () => Promise<void>) {
  const GET = async ({ context }: { context: LoaderContext }) => {
    await (await session.open(context)).set({ user: 'ann' })
    return Response.json('signed in')
  }
  const app = createTestApp(
    {
      routes: { '/': { handler: () => Promise.resolve({ GET }) as never } },
      ...(start === undefined ? {} : { start }),
    },
    { environment: { REDIS_URL: url, SECRET_KEYS: 'k'.repeat(43) } },
  )
  onTestFinished(() => app.stop())
  return app
}

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A way to a Redis on which the first byte arrives late. */
function slowWayTo(redis: string): Promise<string> {
  const { port } = new URL(redis)
  return listening(
    createServer(async (near) => {
      near.on('error', () => {})
      await pause(400)
      const far = connect(Number(port), '127.0.0.1').on('error', () => near.destroy())
      near.pipe(far).pipe(near)
    }),
  )
}

describe.skipIf(findProgram('redis-server') === undefined)('a Redis that takes its time to answer', () => {
  test.each(['over the network', 'with supertest', 'with a start of its own'])('is waited for, %s', async (way) => {
    await using redis = await startRedis()
    const app = appWith(await slowWayTo(redis.url), way.endsWith('own') ? () => Promise.resolve() : undefined)
    const status =
      way === 'over the network' ? (await fetch(await app.origin())).status : (await request(app).get('/')).status
    expect(status).toBe(200)
  })
})

test('a Redis that accepts and says nothing lets the server start without it', async () => {
  const app = appWith(await listening(createServer((near) => void near.on('error', () => {}))))
  expect((await fetch(await app.origin())).status).toBe(503)
})
