import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { Suspense, use } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { forbidden, redirect } from '../../src/client/index.ts'
import { action } from '../../src/server/index.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { followApps, listening, named, otherService, treeOf } from '../support/followed-apps.ts'
import { fallbacks, moduleOf, page, type TinyAppOptions } from '../support/tiny-app.tsx'
import { fencedBlocks } from '../unit/app/handbook-samples.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

const apps = followApps()
const { followed, told } = apps

const routes = (table: object) => table as TinyAppOptions['routes']

test('the chapter shows what the tests below run', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/observability.md'), 'utf8'))
  const [shown] = blocks.flatMap(({ code }) => {
    const [line] = /^\/\/ src\/app\/telemetry\.server\.ts\n/.exec(code) ?? []
    return line === undefined ? [] : [code.slice(line.length)]
  })
  const recipe = join(PROJECT, 'tests/fixtures/recipes/telemetry/telemetry.server.ts')
  expect(`${shown}\n`).toBe(await readFile(recipe, 'utf8'))
})

describe('a page', () => {
  test('is a span of its route, with its loaders and its shell inside', async () => {
    const { app, logs } = await followed({
      routes: routes({
        '/': {
          layout: page(({ children }: { children: unknown }) => children),
          layoutLoader: moduleOf({ loader: () => 1 }),
        },
        '/mills/[id]': { page: page(() => 'mill'), loader: moduleOf({ loader: async () => ({ name: 'Bonk' }) }) },
      }),
    })
    await request(app).get('/mills/secret-7?token=hidden').set('Cookie', 'session=hidden').expect(200)
    const spans = await told()
    expect(treeOf(spans)).toEqual(['GET /mills/[id]', '  loader /#layout', '  loader /mills/[id]#page', '  shell'])
    const span = named(spans, 'GET /mills/[id]')
    expect(span).toMatchObject({ kind: 2, status: 0, parentSpanId: undefined })
    const line = logs.find(({ route }) => route === '/mills/[id]')
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/mills/[id]',
      'millrace.kind': 'document',
      'millrace.request_id': line?.['requestId'],
      'network.protocol.version': '1.1',
      'url.path': '/mills/[id]',
      'url.scheme': 'http',
    })
    expect(line).toMatchObject({ traceId: span.traceId })
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(apps.collector.text()).not.toMatch(/secret|hidden/)
  })

  test('that streams has a span to its end, and what a deferred value fetches is inside of its loader', async () => {
    const service = await otherService()
    const Late = ({ late }: { late: Promise<string> }) => <p>{use(late)}</p>
    const { app } = await followed({
      routes: routes({
        '/': {
          page: page(({ data }: { data: { late: Promise<string> } }) => (
            <Suspense fallback="soon">
              <Late late={data.late} />
            </Suspense>
          )),
          loader: moduleOf({
            loader: () => ({
              late: service.released.promise.then(() => fetch(service.origin)).then((it) => it.text()),
            }),
          }),
        },
      }),
    })
    const answer = await fetch(await listening(app))
    expect(service.seen).toEqual([])
    service.released.resolve()
    expect(await answer.text()).toContain('corn')
    const spans = await told()
    expect(treeOf(spans)).toEqual(['GET /', '  loader /#page', '    GET', '  shell', '  stream'])
    expect(spans.map(({ name }) => name)).toEqual(['loader /#page', 'shell', 'GET', 'stream', 'GET /'])
  })

  test('that fails names its failure by class and digest, and nothing of its text', async () => {
    class MillError extends Error {
      override readonly name = 'MillError'
    }
    const failing = () => {
      throw new MillError('the password is hidden')
    }
    const { app, logs } = await followed({
      routes: routes({
        '/': { page: page(() => 'home'), loader: moduleOf({ loader: failing }), ...fallbacks('root') },
      }),
    })
    await request(app).get('/').expect(500)
    const spans = await told()
    const { digest } = logs.find((line) => line['digest'] !== undefined) as { digest: string }
    const failure = { status: 2, attributes: { 'error.type': 'MillError', 'millrace.digest': digest } }
    expect(named(spans, 'GET /')).toMatchObject(failure)
    expect(named(spans, 'loader /#page')).toMatchObject(failure)
    expect(named(spans, 'shell').status).toBe(0)
    expect(apps.collector.text()).not.toContain('hidden')
  })

  test('of which a part fails after the first byte is marked although its status is 200', async () => {
    const service = await otherService()
    const Late = ({ late }: { late: Promise<string> }) => <p>{use(late)}</p>
    const { app } = await followed({
      routes: routes({
        '/': {
          page: page(({ data }: { data: { late: Promise<string> } }) => (
            <Suspense fallback="soon">
              <Late late={data.late} />
            </Suspense>
          )),
          loader: moduleOf({
            loader: () => ({ late: service.released.promise.then(() => Promise.reject(new TypeError('late'))) }),
          }),
        },
      }),
    })
    const answer = await fetch(await listening(app))
    service.released.resolve()
    expect(await answer.text()).toContain('soon')
    const spans = await told()
    const failure = { status: 2, attributes: { 'error.type': 'TypeError' } }
    expect(named(spans, 'GET /')).toMatchObject({ ...failure, attributes: { 'http.response.status_code': 200 } })
    expect(named(spans, 'stream')).toMatchObject(failure)
  })

  test('that redirects, refuses or is not there has not failed', async () => {
    const loader = (thrown: () => unknown) => ({ page: page(() => 'never'), loader: moduleOf({ loader: thrown }) })
    const { app } = await followed({
      routes: routes({
        '/old': loader(() => redirect('/new')),
        '/locked': loader(() => forbidden()),
        '/new': { page: page(() => 'new') },
      }),
    })
    await request(app).get('/old').expect(307)
    await request(app).get('/locked').expect(403)
    await request(app).get('/nowhere/secret').expect(404)
    const spans = await told()
    expect(spans.map(({ status }) => status)).not.toContain(2)
    expect(named(spans, 'loader /old#page').attributes).toMatchObject({ 'millrace.outcome': 'redirect' })
    expect(named(spans, 'loader /locked#page').attributes).toMatchObject({ 'millrace.outcome': 'forbidden' })
    expect(named(spans, 'GET /old').attributes).toMatchObject({ 'http.response.status_code': 307 })
    expect(named(spans, 'GET').attributes).toMatchObject({ 'http.response.status_code': 404 })
    expect(named(spans, 'GET').attributes).not.toHaveProperty('url.path')
    expect(apps.collector.text()).not.toContain('secret')
  })

  test('is followed as data and with 304 as well', async () => {
    const { app } = await followed({
      routes: routes({ '/mills': { page: page(() => 'mills'), loader: moduleOf({ loader: () => ({ mills: 3 }) }) } }),
    })
    const first = await request(app).get('/mills').expect(200)
    await request(app)
      .get('/mills')
      .set('If-None-Match', first.headers['etag'] ?? '')
      .expect(304)
    await request(app).get('/_m/data/mills').expect(200)
    const spans = await told()
    const seen = spans
      .filter(({ name }) => name === 'GET /mills')
      .map(({ attributes }) => [
        attributes['millrace.kind'],
        attributes['http.response.status_code'],
        attributes['url.path'],
      ])
    expect(seen).toEqual([
      ['document', 200, '/mills'],
      ['document', 304, '/mills'],
      ['data', 200, '/_m/data/mills'],
    ])
  })

  test('whose visitor leaves ends with the request, also what still runs, and is no failure', async () => {
    const service = await otherService()
    const { app } = await followed({
      routes: routes({
        '/': { page: page(() => 'home'), loader: moduleOf({ loader: () => service.released.promise }) },
      }),
    })
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const leaving = new AbortController()
    const closed = new Promise((resolve) => server.on('request', (_req, res) => res.on('close', resolve)))
    server.on('request', () => setImmediate(() => leaving.abort()))
    await expect(fetch(`http://127.0.0.1:${port}/`, { signal: leaving.signal })).rejects.toThrow('aborted')
    await closed
    server.close()
    const spans = await told()
    expect(named(spans, 'GET /')).toMatchObject({ status: 0, attributes: { 'millrace.aborted': true } })
    expect(named(spans, 'loader /#page').status).toBe(0)
    service.released.resolve()
  })
})

describe('an action', () => {
  const actions = {
    'mills/actions.server.ts': {
      grind: action({ handler: () => redirect('/done') }),
      fail: action({
        handler: () => {
          throw new RangeError('hidden')
        },
      }),
    },
  }
  const table = routes({ '/': { page: page(() => 'home') }, '/done': { page: page(() => 'done') } })

  test('is a span of the form that calls it, and no failure when it redirects', async () => {
    const { app } = await followed({ routes: table, actions })
    const id = actionId('mills/actions.server.ts', 'grind')
    await request(app).post(`/?_action=${id}`).type('form').send({ corn: 'hidden' }).expect(303)
    const spans = await told()
    expect(treeOf(spans)).toEqual(['POST /', '  action mills/actions.server.ts: grind'])
    const called = named(spans, 'action mills/actions.server.ts: grind')
    expect(called).toMatchObject({ status: 0, attributes: { 'millrace.outcome': 'redirect' } })
    expect(apps.collector.text()).not.toContain('hidden')
  })

  test('that is called by script and fails is a failed span', async () => {
    const { app } = await followed({ routes: table, actions })
    const id = actionId('mills/actions.server.ts', 'fail')
    const call = { args: [] }
    await request(app).post(`/_m/data/?_action=${id}`).set('Content-Type', 'application/json').send(call).expect(500)
    const spans = await told()
    const failure = { status: 2, attributes: { 'error.type': 'RangeError' } }
    expect(named(spans, 'action mills/actions.server.ts: fail')).toMatchObject(failure)
    expect(named(spans, 'POST /')).toMatchObject({ ...failure, attributes: { 'millrace.kind': 'action' } })
    expect(apps.collector.text()).not.toContain('hidden')
  })
})
