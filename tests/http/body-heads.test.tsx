/** What is decided of a body before it has come. */
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { HandlerArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw } from '../support/raw-http.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

const order = z.object({ mill: z.string() })

test.for([
  ['a schema', 'application/json', { body: order }],
  ['a schema, with files', 'multipart/form-data; boundary=a', { body: order }],
  [
    'the handler',
    'application/json',
    { POST: async ({ request: sent }: HandlerArgs) => Response.json(await sent.json()) },
  ],
  [
    'the handler, with files',
    'multipart/form-data; boundary=a',
    { POST: async ({ request: sent }: HandlerArgs) => Response.json([...(await sent.formData())]) },
  ],
] as const)(
  'a body that declares to be too large is refused by its head where %s reads it',
  async ([, type, module]) => {
    const POST = ({ body }: HandlerArgs<never, unknown>): Response => Response.json({ body })
    const { app } = tinyApp({ routes: { '/orders': { handler: moduleOf({ POST, ...module }) as never } } })
    onTestFinished(() => app.dispose())
    const port = await portOf(app)
    const head = `POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 99999999999\r\n\r\n`
    const connection = await connectRaw(port)
    await connection.send(`${head}-`)
    expect((await connection.response()).status).toBe(413)
    connection.socket.destroy()
  },
)
