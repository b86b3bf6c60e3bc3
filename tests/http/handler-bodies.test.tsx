/** What authors are promised of a `body` schema beside a handler: it sees each body before the handler does. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { HandlerArgs } from '../../src/server/api/loader-types.ts'
import { unauthorized } from '../../src/shared/control-flow.ts'
import { portOf, withServer } from '../support/listening.ts'
import { connectRaw, requestRaw } from '../support/raw-http.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

const order = z.object({
  mill: z.string().min(1),
  sacks: z.coerce.number().int().min(1),
  notes: z.array(z.object({ text: z.string() })).optional(),
})
const VALID = { mill: 'upper', sacks: 3 }

/** A handler for all methods behind a schema, which answers with what it got. */
function orderApp(module: object = { body: order }, more: object = {}) {
  const ran: unknown[] = []
  const answer = ({ body }: HandlerArgs<never, unknown>): Response => {
    ran.push(body)
    return Response.json({ body: body ?? null })
  }
  const methods = { GET: answer, POST: answer, PUT: answer, PATCH: answer, DELETE: answer }
  const { app, logs } = tinyApp({ routes: { '/orders': { handler: moduleOf({ ...methods, ...module }), ...more } } })
  return { app, ran, logs }
}

describe('a valid body', () => {
  test.for<readonly [type: string, text: string]>([
    ['application/json', JSON.stringify({ ...VALID, more: 1 })],
    ['application/json; charset=UTF-8', JSON.stringify(VALID)],
    ['Application/JSON', JSON.stringify({ ...VALID, sacks: '3' })],
    ['application/vnd.mill+json', JSON.stringify(VALID)],
    ['application/x-www-form-urlencoded', 'mill=upper&sacks=3'],
    ['multipart/form-data; boundary=a', part('mill', 'upper') + part('sacks', '3') + '--a--\r\n'],
  ])('of %s is parsed', async ([type, text]) => {
    const { app } = orderApp()
    for (const method of ['post', 'put', 'patch'] as const) {
      const answer = await request(app)[method]('/orders').set('Content-Type', type).send(text).expect(200)
      expect(answer.body).toEqual({ body: VALID })
    }
  })

  test('of a form is nested by the names of its fields', async () => {
    const { app } = orderApp()
    const text = 'mill=upper&sacks=3&notes[0].text=dry&notes[1].text=fine'
    const answer = await request(app).post('/orders').type('form').send(text).expect(200)
    expect(answer.body.body.notes).toEqual([{ text: 'dry' }, { text: 'fine' }])
  })

  test('may hold files', async () => {
    const POST = async ({ body }: HandlerArgs<never, { file: File }>) =>
      Response.json([body.file.name, await body.file.text()])
    const { app } = orderApp({ body: z.object({ file: z.instanceof(File) }), POST })
    const answer = await request(app).post('/orders').attach('file', Buffer.from('grain'), 'list.txt').expect(200)
    expect(answer.body).toEqual(['list.txt', 'grain'])
  })

  test('is checked by any library, at once or later', async () => {
    const isMill = (value: unknown) => (value as { mill?: unknown } | undefined)?.mill === 'upper'
    for (const wait of [false, true]) {
      const validate = (value: unknown) => {
        const result = isMill(value) ? { value: 'checked' } : { issues: [{ message: 'No mill', path: ['mill'] }] }
        return wait ? Promise.resolve(result) : result
      }
      const { app } = orderApp({ body: { '~standard': { version: 1, vendor: 'test', validate } } })
      expect((await request(app).post('/orders').send(VALID).expect(200)).body).toEqual({ body: 'checked' })
      const refused = await request(app).post('/orders').send({}).expect(422)
      expect(refused.body.errors).toEqual([{ path: 'mill', message: 'No mill' }])
    }
  })

  test('is one by a schema that is a function, and by one with an asynchronous refinement', async () => {
    const type = Object.assign(() => undefined, {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    })
    await request(orderApp({ body: type }).app)
      .post('/orders')
      .send(VALID)
      .expect(200)
    const later = order.refine(async ({ sacks }) => sacks < 3, { path: ['sacks'], message: 'too many' })
    expect(
      (
        await request(orderApp({ body: later }).app)
          .post('/orders')
          .send(VALID)
          .expect(422)
      ).body,
    ).toMatchObject({
      errors: [{ path: 'sacks', message: 'too many' }],
    })
  })
})

describe('no body at all', () => {
  test('is undefined for the schema, which may take it', async () => {
    await request(orderApp().app).post('/orders').expect(422)
    const { app } = orderApp({ body: order.optional() })
    expect((await request(app).post('/orders').expect(200)).body).toEqual({ body: null })
  })

  test.for(['get', 'delete'] as const)('is what %s has, whatever the schema says', async (method) => {
    const { app } = orderApp()
    expect((await request(app)[method]('/orders').expect(200)).body).toEqual({ body: null })
  })
})

/** A field of a multipart body. */
function part(name: string, value: string): string {
  return `--a\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
}

const DEEP = '['.repeat(40) + ']'.repeat(40)
const FAULTS: readonly (readonly [name: string, status: number, type: string, text: string, members?: object])[] = [
  ['malformed JSON', 400, 'application/json', '{"mill":'],
  ['empty JSON', 400, 'application/json', ''],
  ['JSON with a forbidden key', 400, 'application/json', '{"__proto__":{"mill":"x"},"mill":"x"}'],
  ['JSON with many levels', 400, 'application/json', `{"mill":${DEEP}}`],
  ['an undecodable form', 400, 'application/x-www-form-urlencoded', 'mill=%ff'],
  ['fields that contradict each other', 400, 'application/x-www-form-urlencoded', 'a=1&a.b=2'],
  ['a form with a forbidden name', 400, 'application/x-www-form-urlencoded', '__proto__.mill=1'],
  ['a multipart body without a boundary', 400, 'multipart/form-data', '--a--'],
  ['text', 415, 'text/plain', '{"mill":"upper","sacks":3}'],
  ['JSON of another character set', 415, 'application/json; charset=utf-16', '{}'],
  ['XML', 415, 'application/xml', '<mill/>'],
  ['too much', 413, 'application/json', JSON.stringify({ mill: 'x'.repeat(2_000) })],
  [
    'wrong members',
    422,
    'application/json',
    '{"mill":"","sacks":0}',
    { errors: [{ path: 'mill' }, { path: 'sacks' }] },
  ],
  ['a list', 422, 'application/json', '[]', { errors: [{ path: '' }] }],
  [
    'a deep fault',
    422,
    'application/json',
    JSON.stringify({ ...VALID, notes: [{}] }),
    { errors: [{ path: 'notes.0.text' }] },
  ],
  [
    'a field of a form',
    422,
    'application/x-www-form-urlencoded',
    'mill=upper&sacks=3&notes[5].other=x',
    { errors: [{ path: 'notes[5].text' }] },
  ],
  ['an empty form', 422, 'application/x-www-form-urlencoded', ''],
]

describe('a body that does not fit', () => {
  test.for(FAULTS)(
    '%s is %i as problem details, and the handler does not run',
    async ([, status, type, text, members]) => {
      const { app, ran, logs } = orderApp({ body: order, bodyLimit: 1_000 })
      const answer = await request(app).post('/orders').set('Content-Type', type).send(text)
      expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json'])
      expect(answer.body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String), ...members })
      expect(ran).toEqual([])
      expect(logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
    },
  )

  test.for<readonly [accept: string, type: string]>([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/plain; charset=utf-8'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['*/*', 'application/problem+json'],
    ['application/json', 'application/problem+json'],
  ])('is told as the client prefers: %s', async ([accept, type]) => {
    const answer = await request(orderApp().app).post('/orders').set('Accept', accept).send({}).expect(422)
    expect(answer.headers['content-type']).toBe(type)
    expect(answer.text).toContain('mill')
  })

  test('is told by twenty faults at most, and by an answer where a schema finds too many to count', async () => {
    const body = z.object({ list: z.array(z.object({ a: z.string() })) })
    const { app } = orderApp({ body })
    const few = await request(app)
      .post('/orders')
      .send({ list: Array.from({ length: 500 }, () => ({})) })
      .expect(422)
    expect(few.body.errors).toHaveLength(20)
    const text = `{"list":[${'{},'.repeat(200_000)}{}]}`
    const send = (to: typeof app) => request(to).post('/orders').set('Content-Type', 'application/json').send(text)
    expect((await send(app)).status).toBe(413)
    expect((await send(orderApp({ body, bodyLimit: 10_000_000 }).app)).status).toBe(422)
  })

  test('is told in short, however much a schema has to say of it', async () => {
    const { app } = orderApp({ body: z.strictObject({ mill: z.string().optional() }) })
    const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, 1]))
    const many = await request(app).post('/orders').send(keys).expect(422)
    expect(many.text.length).toBeLessThan(2_000)
    const named = orderApp({ body: z.record(z.string(), z.number()) })
    const long = await request(named.app)
      .post('/orders')
      .send({ ['x'.repeat(5_000)]: 'x' })
      .expect(422)
    expect(long.text.length).toBeLessThan(2_000)
    expect(long.text).toContain('…')
  })

  test('in pieces over the limit is refused while it comes', async () => {
    const { app, ran } = orderApp({ body: order, bodyLimit: 1_000 })
    const answer = await withServer(app, (port) =>
      requestRaw(
        port,
        'POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
          `800\r\n"${'x'.repeat(0x7ff)}\r\n`,
      ),
    )
    expect([answer.status, ran]).toEqual([413, []])
  })

  test('by a schema that throws is a failure', async () => {
    const { app, logs } = orderApp({
      body: z.unknown().transform(() => {
        throw new Error('a secret of the schema')
      }),
    })
    const answer = await request(app).post('/orders').send({}).expect(500)
    expect(answer.text).not.toContain('secret')
    expect(JSON.stringify(logs)).toContain('a secret of the schema')
  })
})

describe('schemas by method', () => {
  const byMethod = { body: { POST: order, PATCH: order.partial(), DELETE: z.object({ why: z.string() }) } }

  test('check the bodies of their method alone', async () => {
    const { app } = orderApp(byMethod)
    await request(app).post('/orders').send({ mill: 'upper' }).expect(422)
    await request(app).patch('/orders').send({ mill: 'upper' }).expect(200)
    await request(app).delete('/orders').send({}).expect(422)
    expect((await request(app).delete('/orders').send({ why: 'dry' }).expect(200)).body).toEqual({
      body: { why: 'dry' },
    })
    expect((await request(app).put('/orders').send('free').expect(200)).body).toEqual({ body: null })
  })

  test.for([
    [{ post: order }, 'body has a schema for post'],
    [{ GET: order }, 'body has a schema for GET'],
    [{ QUERY: order }, 'body has a schema for QUERY'],
    [{ POST: 'order' }, 'body.POST is not a schema'],
    ['order', 'body is neither a schema nor a list'],
    [null, 'body is neither a schema nor a list'],
  ] as const)('that would check nothing fail: %j', async ([body, message]) => {
    const { app, ran, logs } = orderApp({ body })
    await request(app).post('/orders').send(VALID).expect(500)
    expect([ran, JSON.stringify(logs)]).toEqual([[], expect.stringContaining(message)])
  })
})

describe('the order of checks', () => {
  test('is guard, params, search params, body', async () => {
    const order: string[] = []
    const noting = (name: string) => ({
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => (order.push(name), { value }) },
    })
    const { app } = orderApp(
      { params: noting('params'), search: noting('search'), body: noting('body') },
      { guard: moduleOf({ guard: () => void order.push('guard') }) },
    )
    await request(app).post('/orders').send(VALID).expect(200)
    expect(order).toEqual(['guard', 'params', 'search', 'body'])
  })

  test('leaves a body unread that a guard or the search params refuse', async () => {
    const search = z.object({ page: z.coerce.number() })
    const refused = orderApp({ body: order }, { guard: moduleOf({ guard: () => unauthorized() }) })
    const invalid = orderApp({ body: order, search })
    for (const [{ app }, status] of [
      [refused, 401],
      [invalid, 400],
    ] as const) {
      const port = await portOf(app)
      const connection = await connectRaw(port)
      // Nothing of the body is sent: an answer that waited for it would never come.
      await connection.send(
        'POST /orders?page=x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n',
      )
      expect((await connection.response()).status).toBe(status)
      connection.socket.destroy()
    }
  })
})

describe('a body that two read', () => {
  test('fails in the handler with a word on the argument to use', async () => {
    const { app, logs } = orderApp({
      body: order,
      POST: async ({ request: asked }: HandlerArgs) => Response.json(await asked.json()),
    })
    await request(app).post('/orders').send(VALID).expect(500)
    expect(JSON.stringify(logs)).toContain('use the argument `body` of the handler')
  })

  test('is left to the handler by a method without a schema', async () => {
    const { app } = orderApp({
      body: { POST: order },
      PUT: async ({ request: asked }: HandlerArgs) => Response.json(await asked.json()),
    })
    expect((await request(app).put('/orders').send({ free: 1 }).expect(200)).body).toEqual({ free: 1 })
  })

  test('fails where a guard has read it', async () => {
    const guard = async ({ request: asked }: HandlerArgs) => void (await asked.clone().text())
    const { app, logs } = orderApp({ body: order }, { guard: moduleOf({ guard }) })
    await request(app).post('/orders').send(VALID).expect(500)
    expect(JSON.stringify(logs)).toContain('A guard has read the body')
  })

  test('has its headers in the request still', async () => {
    const POST = ({ request: asked }: HandlerArgs) => new Response(asked.headers.get('content-type'))
    const { app } = orderApp({ body: order, POST })
    expect((await request(app).post('/orders').send(VALID).expect(200)).text).toBe('application/json')
  })
})

describe('a form of another site', () => {
  test.for([
    ['form', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['form', { Origin: 'https://else.test' }, 403],
    ['form', {}, 200], // no browser
    ['json', { Origin: 'https://else.test' }, 200], // browsers ask before they send it
  ] as const)('%s with %j: %i', async ([type, headers, status]) => {
    const { app, ran } = orderApp()
    await request(app).post('/orders').set(headers).type(type).send(VALID).expect(status)
    expect(ran).toHaveLength(status === 200 ? 1 : 0)
  })
})

describe('a body that browsers send to other sites without asking', () => {
  const FOREIGN = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://else.test', Cookie: 'session=x' }
  test.for<readonly [method: 'post' | 'put', type: string | undefined, text: string | undefined, status: number]>([
    ['post', undefined, undefined, 403],
    ['post', 'text/plain', undefined, 403],
    ['post', 'text/plain', '{"mill":"upper","sacks":3}', 403],
    ['post', 'text/plain; charset=application/json', '{}', 403],
    ['post', 'application/x-www-form-urlencoded', undefined, 403],
    ['post', 'application/x-www-form-urlencoded; charset=latin1', 'mill=x', 403],
    ['post', 'multipart/form-data', 'mill=x', 403],
    ['post', 'application/json', JSON.stringify(VALID), 200],
    ['post', 'application/vnd.mill+json', JSON.stringify(VALID), 200],
    ['put', undefined, undefined, 200], // browsers ask before they send this method
  ])('is none for a handler of another site: %s %s %s', async ([method, type, text, status]) => {
    const { app, ran } = orderApp({ body: order.optional() })
    const call = request(app)[method]('/orders').set(FOREIGN)
    if (type !== undefined) call.set('Content-Type', type)
    await (text === undefined ? call : call.send(text)).expect(status)
    expect(ran).toHaveLength(status === 200 ? 1 : 0)
  })
})

test('no body counts as held while its answer is sent', async () => {
  const waiting = Promise.withResolvers<void>()
  const POST = (): Response =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(Buffer.from('x'))
          await waiting.promise
          controller.close()
        },
      }),
    )
  const { app } = orderApp({ body: z.unknown(), bodyLimit: 10_000_000, POST })
  const port = await portOf(app)
  const text = JSON.stringify('y'.repeat(9_900_000))
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n`
  using connections = new DisposableStack()
  // More than one client's share of what running handlers may hold.
  for (let at = 0; at < 12; at += 1) {
    const connection = connections.use(await connectRaw(port))
    await connection.send(`POST /orders HTTP/1.1\r\n${head}\r\n${text}`)
    expect(String(await connection.receive(12))).toBe('HTTP/1.1 200')
  }
  waiting.resolve()
})

test('bodies without a bound are refused, because they are held in memory', async () => {
  const { app, logs } = orderApp({ body: order, bodyLimit: Infinity })
  await request(app).post('/orders').send(VALID).expect(500)
  expect(JSON.stringify(logs)).toContain('set a finite bodyLimit')
})
