import { expect, test } from 'vitest'
import { portOf } from '../support/listening.ts'
import { connectRaw } from '../support/raw-http.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

type Handler = (args: { readonly request: Request }) => unknown

/** Serves one handler at `/part`, and another one that needs no body. */
async function serve(POST: Handler): Promise<number> {
  const GET = (): Response => new Response('next')
  const { app } = tinyApp({ routes: { '/part': { handler: moduleOf({ bodyLimit: 10_000_000, POST, GET }) } } })
  return portOf(app)
}

const post = (length: number): string =>
  `POST /part HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n`

/** What reads in part and never says that it is done. */
const HANDLERS: readonly [string, Handler][] = [
  ['has read once', async ({ request }) => (await request.body?.getReader().read(), new Response('read'))],
  [
    'has read once, and reads again without waiting for it',
    async ({ request }) => {
      const reader = request.body?.getReader()
      await reader?.read()
      void reader?.read().catch(() => undefined)
      return new Response('read')
    },
  ],
  ['has a reader and has not read', ({ request }) => (request.body?.getReader(), new Response('read'))],
  [
    'reads once and fails',
    async ({ request }) => {
      await request.body?.getReader().read()
      throw new Error('no room')
    },
  ],
  ['answers without a body', async ({ request }) => (await request.body?.getReader().read(), new Response(null))],
]

test.for(HANDLERS)('a large body of which a handler %s: the answer says that the connection ends', async ([, run]) => {
  using connection = await connectRaw(await serve(run))
  void connection.send(post(5_000_000))
  void connection.send(Buffer.alloc(5_000_000, 'a'))
  const answer = await connection.response()
  expect(answer.status).toBeOneOf([200, 500])
  expect(answer.header('connection')).toBe('close')
})

test.for(HANDLERS)('a small body of which a handler %s: the connection takes the next request', async ([, run]) => {
  using connection = await connectRaw(await serve(run))
  const body = 'a'.repeat(100_000)
  await connection.send(`${post(body.length)}${body}GET /part HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  expect((await connection.response()).header('connection')).toBe('keep-alive')
  expect((await connection.response()).body.toString()).toBe('next')
})

test('a handler that answers with what it reads is given all of it', async () => {
  using connection = await connectRaw(await serve(({ request }) => new Response(request.body)))
  const body = Buffer.alloc(1_000_000, 'b')
  void connection.send(post(body.length)).then(() => connection.send(body))
  expect((await connection.response()).body.equals(body)).toBe(true)
})
