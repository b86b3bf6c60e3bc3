/** A parser of bodies in front of the application, its own or a host's, has read what an action or a handler waits for. */
import { gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { startReportServer } from './report-setup.ts'

const MODULE = 'actions.server.ts'
const BOUNDARY = 'a-boundary'
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

async function appBehind(parser: RequestHandler) {
  const ran: unknown[] = []
  const save = action({ handler: ({ input }) => void ran.push(input) })
  const POST = async ({ request: asked }: { request: Request }): Promise<Response> => {
    const coding = ['content-encoding', 'content-length'].map((name) => String(asked.headers.get(name))).join(' ')
    return new Response(await asked.text(), { headers: { 'X-Coding': coding } })
  }
  const { app, logs } = tinyApp({
    routes: { '/': { page: page(() => <p>names</p>) }, '/echo': { handler: moduleOf({ POST }) } },
    middleware: [parser],
    actions: { [MODULE]: { save } },
  })
  const id = actionId(MODULE, 'save')
  const calling = () =>
    request(app)
      .post(`/_m/data/?_action=${id}`)
      .set({ 'X-Millrace-Build': 'development', 'Content-Type': 'application/json' })
  return {
    app,
    ran,
    logs,
    send: (type: string, body: string) => request(app).post(`/?_action=${id}`).set('Content-Type', type).send(body),
    call: (body: object) => calling().send(body),
    callText: (body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
      calling()
        .set(headers)
        .serialize((given: unknown) => given as string)
        .send(body),
    echo: (type: string, body: string) => request(app).post('/echo').set('Content-Type', type).send(body),
  }
}

const URLENCODED = 'application/x-www-form-urlencoded'
const refused = (logs: readonly Record<string, unknown>[]): unknown =>
  logs.findLast(({ refused: reason }) => reason)?.['refused']

/** Leaves an object as parsers of multipart bodies do. */
const multipartParser =
  (body: object, more: object = {}): RequestHandler =>
  (req, _res, next) => {
    req.resume().once('end', () => {
      Object.assign(req, { body, ...more })
      next()
    })
  }

describe('a form whose body was read in front', () => {
  test.for([
    ['express.urlencoded()', express.urlencoded({ extended: false }), URLENCODED, 'name=ann+b&city=%C3%BC%26'],
    ['express.raw()', express.raw({ type: () => true }), URLENCODED, 'name=ann+b&city=%C3%BC%26'],
    ['express.text()', express.text({ type: () => true }), URLENCODED, 'name=ann+b&city=%C3%BC%26'],
    ['a parser of multipart bodies', multipartParser({ name: 'ann b', city: 'ü&' }), MULTIPART, 'read by the parser'],
    ['nobody', ((_req, _res, next) => next()) as RequestHandler, URLENCODED, 'name=ann+b&city=%C3%BC%26'],
  ] as const)('by %s arrives as it was sent', async ([, parser, type, body]) => {
    const { send, ran } = await appBehind(parser)
    await send(type, body).expect(303)
    expect(ran).toEqual([{ name: 'ann b', city: 'ü&' }])
  })

  test.for([
    [express.urlencoded({ extended: false }), 'tag=a&tag=b', { tag: ['a', 'b'] }],
    [express.urlencoded({ extended: true }), 'tag=a&tag=b', { tag: ['a', 'b'] }],
    [express.urlencoded({ extended: true }), 'tag[]=a', { tag: ['a'] }],
    [express.urlencoded({ extended: true }), 'a[b]=c&a[d][e]=f', { a: { b: 'c', d: { e: 'f' } } }],
    [express.urlencoded({ extended: true }), 'rows[0][n]=1&rows[1][n]=2', { rows: [{ n: '1' }, { n: '2' }] }],
    [express.urlencoded({ extended: true }), 'a.b=c&rows[0][]=1', { a: { b: 'c' }, rows: [['1']] }],
    [express.urlencoded({ extended: true }), 'a[hasOwnProperty]=1', { a: { hasOwnProperty: '1' } }],
  ] as const)('%# is used as it was parsed', async ([parser, body, input]) => {
    const { send, ran } = await appBehind(parser)
    await send(URLENCODED, body).expect(303)
    expect(ran).toEqual([input])
  })

  test('and whose fields a parser of multipart bodies has nested is used so', async () => {
    const { send, ran } = await appBehind(multipartParser({ tag: ['a', 'b'], a: { b: 'c' } }, { files: [] }))
    await send(MULTIPART, 'read by the parser').expect(303)
    expect(ran).toEqual([{ tag: ['a', 'b'], a: { b: 'c' } }])
  })

  test.for([
    ['files', multipartParser({ name: 'ann' }, { files: [{}] })],
    ['files by their fields', multipartParser({ name: 'ann' }, { files: { portrait: [{}] } })],
    ['one file', multipartParser({ name: 'ann' }, { file: {} })],
    ['nothing', multipartParser({})],
  ] as const)('as multipart, of which %s were taken, is refused by a line that says so', async ([, parser]) => {
    const { send, ran, logs } = await appBehind(parser)
    await send(MULTIPART, 'read by the parser, which is longer than a body without a part').expect(500)
    expect(ran).toEqual([])
    expect(refused(logs)).toContain('Middleware in front has read the body and not left its files: move it behind')
  })

  test('as multipart with a value that would end its part is refused', async () => {
    const note = `x\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="role"\r\n\r\nadmin`
    const { send, ran } = await appBehind(multipartParser({ role: 'user', note }))
    expect((await send(MULTIPART, 'read by the parser')).status).toBe(400)
    expect(ran).toEqual([])
  })

  test('as multipart without a field is one', async () => {
    const { send, ran } = await appBehind(multipartParser({}))
    await send(MULTIPART, `--${BOUNDARY}--\r\n`).expect(303)
    expect(ran).toEqual([{}])
  })

  test.for([
    ['a[__proto__][b]=c', 303, [{}]],
    ['a[constructor]=c', 400, []],
    [`${'a[b]'.repeat(9)}=c`, 400, []],
    [`a${'[b]'.repeat(9)}=c`, 400, []],
    [`${'a'.repeat(201)}=c`, 400, []],
    [Array.from({ length: 900 }, (_, at) => `a[${at % 20}][]=x`).join('&'), 303, [expect.anything()]],
  ] as const)('is checked as any other: %#', async ([body, status, inputs]) => {
    const { send, ran } = await appBehind(express.urlencoded({ extended: true }))
    await send(URLENCODED, body).expect(status)
    expect(ran).toEqual(inputs)
  })

  test('that names a parser of a router, where its body is gone', async () => {
    const router = express.Router()
    const busboy = multipartParser({ name: 'ann' }, { files: [{}] })
    router.use(function cookieParser(_req, _res, next) {
      next()
    })
    router.use(function busboyBodies(req, res, next) {
      busboy(req, res, next)
    })
    const { send, logs } = await appBehind(router)
    await send(MULTIPART, 'read by the parser').expect(500)
    expect(refused(logs)).toContain('The middleware busboyBodies has read the body')
  })

  test('and thrown away is refused too, but for one without a byte', async () => {
    const { send, ran, logs } = await appBehind((req, _res, next) => void req.resume().once('end', () => next()))
    await send(URLENCODED, 'name=ann').expect(500)
    expect(refused(logs)).toContain('left nothing in req.body')
    await send(URLENCODED, '').expect(303)
    expect(ran).toEqual([{}])
  })

  test('is bounded as any other', async () => {
    const { send } = await appBehind(express.raw({ type: () => true, limit: '4mb' }))
    await send(URLENCODED, `name=${'x'.repeat(1_100_000)}`).expect(413)
  })
})

describe('a call whose JSON was read in front', () => {
  const strict = express.json()
  const loose = express.json({ strict: false })
  const INPUT = { age: 7, tags: ['a', 1], deep: { list: [{ no: null, yes: true }] }, text: '\u2028 "ü"' }

  test.for([
    ['express.json()', strict],
    ['express.json({ strict: false })', loose],
    ['express.raw()', express.raw({ type: () => true })],
    ['express.text()', express.text({ type: () => true })],
  ] as const)('by %s arrives as it was sent', async ([, parser]) => {
    const { call, ran } = await appBehind(parser)
    for (const input of [INPUT, [1, [2]], 'text', 5, false, null, '5', '"5"']) {
      ran.length = 0
      await call({ args: [null], input }).expect(200)
      expect(ran).toEqual([input])
    }
  })

  test.for(['"text"', '5', 'true', 'null', '"5"'])('as %s alone is a call without input', async (body) => {
    const { callText, ran } = await appBehind(loose)
    await callText(body).expect(200)
    expect(ran).toEqual([undefined])
  })

  test.for([
    ['{"input":{"__proto__":{"admin":true}}}', 400],
    ['{"input":{"constructor":{"prototype":1}}}', 400],
    ['{"__proto__":{"input":1}}', 400],
    [`{"input":${'['.repeat(40)}${']'.repeat(40)}}`, 400],
    [`{"input":${'['.repeat(40_000)}${']'.repeat(40_000)}}`, 400],
    ['{"input":{"a":[1e999]}}', 400],
    ['{"input":-1e999}', 400],
    ['', 400],
  ] as const)('is checked as any other: %#', async ([body, status]) => {
    for (const parser of [strict, loose]) {
      const { callText, ran } = await appBehind(parser)
      await callText(body).expect(status)
      expect(ran).toEqual([])
    }
  })

  test('in a compressed body is used, and without a parser refused', async () => {
    const body = gzipSync('{"input":{"age":7}}')
    const compressed = { 'Content-Encoding': 'gzip' }
    const { callText, ran } = await appBehind(strict)
    await callText(body, compressed).expect(200)
    expect(ran).toEqual([{ age: 7 }])
    const plain = await appBehind((_req, _res, next) => next())
    await plain.callText(body, compressed).expect(415)
  })

  test('runs once by its key, as one that no parser has read', async () => {
    const { callText, ran } = await appBehind(strict)
    for (const body of ['{"input":{"age":7}}', '{ "input": { "age": 7 } }', '{"input":{"age":8}}']) {
      await callText(body, { 'X-Millrace-Once': 'a-key-of-one-call' }).expect(200)
    }
    expect(ran).toEqual([{ age: 7 }, { age: 8 }])
  })
})

describe('a handler reads what was left', () => {
  const extended = express.urlencoded({ extended: true })
  test.for([
    [express.raw({ type: () => true }), 'text/plain', 'any bytes', 'any bytes'],
    [express.text(), 'text/plain', '\u{1f34e} text', '\u{1f34e} text'],
    [extended, URLENCODED, 'a=b+c', 'a=b+c'],
    [extended, URLENCODED, 'a[b]=c&a[d]=e&t=1&t=2', 'a%5Bb%5D=c&a%5Bd%5D=e&t=1&t=2'],
    [express.json(), 'application/json', '{"a":"b"}', '{"a":"b"}'],
    [express.json(), 'application/json; charset=utf-8', '{ "a": [1, {"b": null}] }', '{"a":[1,{"b":null}]}'],
    [express.json({ type: '*/*' }), 'application/vnd.api+json', '[1]', '[1]'],
    [express.json({ strict: false }), 'application/json', '"a"', '"a"'],
    [express.json(), 'text/plain', 'not read', 'not read'],
  ] as const)('%#', async ([parser, type, body, text]) => {
    const { echo } = await appBehind(parser)
    const answer = await echo(type, body)
    expect([answer.status, answer.text]).toEqual([200, text])
  })

  test('without the length and the coding of what was sent', async () => {
    const { app, echo } = await appBehind(express.json())
    const body = gzipSync('{"a":1}')
    const sent = request(app).post('/echo').set({ 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
    const { text, headers } = await sent.serialize((bytes: unknown) => bytes as string).send(body)
    expect([text, headers['x-coding']]).toEqual(['{"a":1}', 'null null'])
    const plain = await echo('text/plain', 'four')
    expect(plain.headers['x-coding']).toBe('null 4')
  })
})

test.for([
  ['express.text()', express.text(), 'text/plain;charset=UTF-8', undefined],
  ['express.text(), inflated', express.text(), 'text/plain;charset=UTF-8', 'gzip'],
  ['express.raw()', express.raw({ type: '*/*' }), 'application/x-sentry-envelope', undefined],
  ['express.raw(), inflated', express.raw({ type: '*/*' }), 'application/x-sentry-envelope', 'gzip'],
] as const)('an error report that %s has read arrives at the service', async ([, parser, type, coding]) => {
  const { app, envelope, sink } = await startReportServer()
  const sent = request(express().use(parser, app)).post(app.reports.tunnelPath).set('Content-Type', type)
  if (coding !== undefined) sent.set('Content-Encoding', coding)
  const body = envelope([['event', { message: 'ü' }]])
  await sent
    .serialize((bytes: unknown) => bytes as string)
    .send(coding === undefined ? body : gzipSync(body))
    .expect(200)
  await sink.until(({ requests }) => requests.length === 1)
  expect(JSON.parse(sink.requests[0]?.envelope?.items[0]?.payload.toString() ?? '')).toMatchObject({ message: 'ü' })
})

test.for([express.json({ type: '*/*' }), express.raw({ type: '*/*' }), express.text({ type: '*/*' })])(
  'a report about a policy that a parser has read arrives too: %#',
  async (parser) => {
    const { app, sink } = await startReportServer()
    const body = {
      'csp-report': {
        'document-uri': 'http://localhost/',
        'effective-directive': 'script-src-elem',
        'blocked-uri': 'https://evil.test/x.js',
      },
    }
    await request(express().use(parser, app))
      .post(app.reports.tunnelPath)
      .set({ Host: 'localhost', 'Content-Type': 'application/csp-report' })
      .send(JSON.stringify(body))
      .expect(200)
    await sink.until(({ requests }) => requests.length === 1)
  },
)
