/** What one client's bodies can take of the memory that all bodies share, over sockets. */
import { expect, onTestFinished, test } from 'vitest'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, requestRaw, type RawConnection } from '../support/raw-http.ts'
import { page, tinyApp } from '../support/tiny-app.tsx'
import { postRequest } from './report-setup.ts'

const GREEDY = { 'X-Forwarded-For': '198.51.100.7' }
const HONEST = { 'X-Forwarded-For': '203.0.113.9' }
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const TYPED = `text=${'x'.repeat(20_000)}` // more than is taken in any case
const LARGE = `text=${'x'.repeat(1_048_571)}` // 1 MiB, the limit

/** A site whose one action says how often it has begun, and ends when it is let go. */
async function site() {
  const ended = Promise.withResolvers<void>()
  const begun = { count: 0 }
  const { app } = tinyApp({
    routes: { '/': { page: page(() => <h1>Home</h1>) } },
    actions: {
      'slow.server.ts': {
        slow: action({
          handler: async () => {
            begun.count += 1
            await ended.promise
          },
        }),
        quick: action({ handler: () => undefined }),
      },
    },
    environment: { TRUST_PROXY: '127.0.0.1' },
  })
  const port = await portOf(app)
  onTestFinished(() => ended.resolve())
  const post = (name: string, body: string, client: object): Buffer =>
    postRequest(`/?_action=${actionId('slow.server.ts', name)}`, body, { ...FORM, ...client })
  return {
    begun,
    async open(bytes: Uint8Array): Promise<RawConnection> {
      const connection = await connectRaw(port)
      onTestFinished(() => connection[Symbol.dispose]())
      await connection.send(bytes)
      return connection
    },
    post,
    status: async (body: string, client: object) => (await requestRaw(port, post('quick', body, client))).status,
  }
}

test('70 slow handlers with a megabyte each keep nobody from sending, not even their own client', async () => {
  const { begun, open, post, status } = await site()
  // More at one time would be refused while they arrive.
  for (let count = 0; count < 70; count += 10) {
    for (let one = 0; one < 10; one += 1) await open(post('slow', LARGE, GREEDY))
    await expect.poll(() => begun.count, { timeout: 10_000 }).toBe(count + 10)
  }
  expect(await status(TYPED, HONEST)).toBe(303)
  expect(await status(LARGE, HONEST)).toBe(303)
  expect(await status(TYPED, GREEDY)).toBe(303)
})

test('a client whose bodies never end holds half of what all may, and no more', async () => {
  const { open, post, status } = await site()
  const unfinished: RawConnection[] = []
  const begin = async () => unfinished.push(await open(post('quick', LARGE, GREEDY).subarray(0, -1)))
  for (let count = 0; count < 40; count += 1) await begin()
  // Two that grow at one time may both be refused, and leave room for one.
  await expect.poll(() => begin().then(() => status(LARGE, GREEDY)), { timeout: 10_000 }).toBe(503)
  expect(await status(LARGE, HONEST)).toBe(303)
  // What people type is taken in any case.
  expect(await status('text=hello', GREEDY)).toBe(303)
  for (const { socket } of unfinished) socket.resetAndDestroy()
  await expect.poll(() => status(LARGE, GREEDY), { timeout: 10_000 }).toBe(303)
})
