/** A parser of bodies in front of the application, its own or a host's, has read what an action or a handler waits for. */
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const BOUNDARY = 'a-boundary'
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

async function appBehind(parser: RequestHandler) {
  const ran: unknown[] = []
  const save = action({ handler: ({ input }) => void ran.push(input) })
  const POST = async ({ request: asked }: { request: Request }): Promise<Response> => new Response(await asked.text())
  const folder = await makeTempDir('parsers')
  const { app, logs } = tinyApp({
    routes: { '/': { page: page(() => <p>names</p>) }, '/echo': { handler: moduleOf({ POST }) } },
    middleware: [parser],
    environment: { DATA_DIR: folder.path },
    actions: { [MODULE]: { save } },
  })
  onTestFinished(async () => {
    app.dispose()
    await folder.remove()
  })
  const id = actionId(MODULE, 'save')
  return {
    ran,
    logs,
    send: (type: string, body: string) => request(app).post(`/?_action=${id}`).set('Content-Type', type).send(body),
    call: (body: object) =>
      request(app).post(`/_m/data/?_action=${id}`).set('X-Millrace-Build', 'development').send(body),
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
    ['a parser of multipart bodies', multipartParser({ name: 'ann b', city: 'ü&' }), MULTIPART, 'read by the parser'],
    ['nobody', ((_req, _res, next) => next()) as RequestHandler, URLENCODED, 'name=ann+b&city=%C3%BC%26'],
  ] as const)('by %s arrives as it was sent', async ([, parser, type, body]) => {
    const { send, ran } = await appBehind(parser)
    await send(type, body).expect(303)
    expect(ran).toEqual([{ name: 'ann b', city: 'ü&' }])
  })

  test.for([
    ['express.urlencoded()', express.urlencoded({ extended: true }), URLENCODED, 'a[b]=c'],
    ['express.urlencoded()', express.urlencoded({ extended: false }), URLENCODED, 'tag=a&tag=b'],
    ['Middleware in front', multipartParser({ name: 'ann' }, { files: [{}] }), MULTIPART, 'read by the parser'],
    ['express.text()', express.text({ type: () => true }), URLENCODED, 'name=ann'],
  ] as const)('and left in another shape is refused by a line that names %s', async ([name, parser, type, body]) => {
    const { send, ran, logs } = await appBehind(parser)
    await send(type, body).expect(500)
    expect(ran).toEqual([])
    expect(refused(logs)).toContain(name)
    expect(refused(logs)).toContain('move it behind Millrace')
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

test('a call whose JSON was taken apart in front is refused, since it is nested', async () => {
  const { call, ran, logs } = await appBehind(express.json())
  await call({ input: { name: 'ann' } }).expect(500)
  expect([ran, refused(logs)]).toEqual([[], expect.stringContaining('express.json()')])
})

describe('a handler reads what was left', () => {
  test.for([
    [express.raw({ type: () => true }), 'text/plain', 'any bytes', 200, 'any bytes'],
    [express.urlencoded(), URLENCODED, 'a=b+c', 200, 'a=b+c'],
    [express.json(), 'application/json', '{"a":"b"}', 200, '{"a":"b"}'],
    [express.json(), 'application/json', '{"a":1}', 500, expect.stringContaining('express.json()')],
  ] as const)('%#', async ([parser, type, body, status, text]) => {
    const { echo } = await appBehind(parser)
    const answer = await echo(type, body)
    expect([answer.status, answer.text]).toEqual([status, text])
  })
})
