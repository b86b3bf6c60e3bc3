/** What handlers without a schema read whole of a body counts with the bodies of calls. */
import { setImmediate as turn } from 'node:timers/promises'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { HandlerArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw } from '../support/raw-http.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

describe('bodies that handlers read themselves', () => {
  const LIMIT = 16_777_216
  const CONNECTIONS = 5 // more than what bodies may hold, each without its last byte

  async function sendAlmostAll(POST: (args: HandlerArgs) => Promise<Response>): Promise<readonly string[]> {
    const { app } = tinyApp({ routes: { '/orders': { handler: moduleOf({ POST, bodyLimit: LIMIT }) } } })
    const port = await portOf(app)
    using connections = new DisposableStack()
    const answers: string[] = []
    const head = `POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${LIMIT}\r\n\r\n`
    const opened = await Promise.all(Array.from({ length: CONNECTIONS }, () => connectRaw(port)))
    for (const connection of opened) connections.use(connection)
    await Promise.race([
      Promise.all(opened.map((connection) => connection.send(head + 'y'.repeat(LIMIT - 1)).catch(() => undefined))),
      ...opened.map(async (connection) => answers.push(String(await connection.receive(12)))),
    ])
    return answers
  }

  test.for<readonly [how: string, read: (given: Request) => Promise<unknown>]>([
    ['as a text', (given) => given.text()],
    ['as bytes', (given) => given.arrayBuffer()],
    ['as a copy', (given) => given.clone().text()],
  ])('count together %s: the one too many is refused', async ([, read]) => {
    const answers = await sendAlmostAll(async (args) => Response.json(typeof (await read(args.request))))
    expect(answers).toEqual(['HTTP/1.1 503'])
  })

  test('count for nothing where they are read piece by piece, and whole ones no longer than their handler runs', async () => {
    expect(
      await sendAlmostAll(async ({ request: given }) => {
        for await (const _ of given.body ?? []) continue
        return new Response()
      }),
    ).toEqual([])
    const POST = async ({ request: given }: HandlerArgs) => Response.json((await given.text()).length)
    const { app } = tinyApp({ routes: { '/orders': { handler: moduleOf({ POST, bodyLimit: LIMIT }) } } })
    for (let at = 0; at < CONNECTIONS; at += 1) {
      const answer = await request(app).post('/orders').type('text/plain').send('y'.repeat(LIMIT))
      expect([answer.status, answer.body]).toEqual([200, LIMIT])
    }
  })

  test.for<readonly [how: string, module: object]>([
    ['as a text', { POST: async (args: HandlerArgs) => Response.json((await args.request.text()).length) }],
    [
      'by a schema',
      {
        body: z.object({ text: z.string() }),
        POST: async ({ body }: { body: { text: string } }) => Response.json(body),
      },
    ],
  ])(
    'of four clients that hold all room, read %s, leave room to a fifth: one of theirs is refused',
    async ([, read]) => {
      const module = moduleOf({ ...read, bodyLimit: LIMIT } as never)
      const { app } = tinyApp({
        environment: { TRUST_PROXY: '127.0.0.1' },
        routes: { '/orders': { handler: module } },
      })
      const port = await portOf(app)
      using connections = new DisposableStack()
      const head = (client: string) =>
        `POST /orders HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\nContent-Type: application/json\r\nContent-Length: ${LIMIT}\r\n\r\n`
      const opened = await Promise.all(Array.from({ length: 4 }, () => connectRaw(port)))
      for (const connection of opened) connections.use(connection)
      const refused = Promise.race(opened.map((connection) => connection.receive(12).then(String)))
      const filling = '{"text":"' + 'y'.repeat(LIMIT - 20)
      await Promise.all(opened.map((connection, at) => connection.send(head(`192.0.2.${at}`) + filling)))
      const post = (client: string) =>
        request(app)
          .post('/orders')
          .set('X-Forwarded-For', client)
          .type('json')
          .send({ text: 'y'.repeat(100_000) })
      let seen: string | undefined
      // The server may still be reading the four.
      while (seen === undefined) {
        expect((await post('192.0.2.9')).status).toBe(200)
        seen = (await Promise.race([refused, turn()])) ?? undefined
      }
      expect(seen).toBe('HTTP/1.1 503')
    },
  )
})
