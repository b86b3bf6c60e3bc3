/** What clients of a resource route get when it has no answer: a text, or problem details where they ask for JSON. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { UnavailableError } from '../../src/server/http/unavailable-error.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { forbidden, notFound, redirect } from '../../src/shared/control-flow.ts'
import { portOf } from '../support/listening.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

const FAULTS: Readonly<Record<string, () => never>> = {
  missing: notFound,
  refused: forbidden,
  broken: () => {
    throw new Error('secret of the server')
  },
  down: () => {
    throw new UnavailableError('later', { retryAfter: 5 })
  },
}

function faultyApp() {
  const { app, logs } = tinyApp({
    routes: {
      '/api/[fault]': {
        handler: moduleOf({
          search: z.object({ page: z.coerce.number().optional() }),
          GET: ({ params: { fault } }: LoaderArgs<'/api/[fault]'>) => FAULTS[fault as string]?.() ?? redirect('/there'),
          POST: async ({ request: asked }: LoaderArgs<'/api/[fault]'>) => Response.json(await asked.json()),
        }),
      },
      '/large': {
        handler: moduleOf({
          bodyLimit: 2_000_000,
          POST: async ({ request: asked }: LoaderArgs<'/large'>) =>
            Response.json({ bytes: (await asked.bytes()).length }),
        }),
      },
      '/endless': {
        handler: moduleOf({
          bodyLimit: Infinity,
          POST: async ({ request: asked }: LoaderArgs<'/endless'>) =>
            Response.json({ bytes: (await asked.bytes()).length }),
        }),
      },
      '/misspelt': { handler: moduleOf({ bodyLimit: '1mb', GET: () => new Response('never') }) },
    } as never,
  })
  return { app, logs }
}

describe('a fault of a handler', () => {
  test.for([
    ['get', '/api/missing', 404, { title: 'Not Found', detail: 'Not found' }],
    ['get', '/api/refused', 403, { title: 'Forbidden', detail: 'Refused' }],
    [
      'get',
      '/api/broken',
      500,
      {
        title: 'Internal Server Error',
        detail: 'Application error: a server-side exception has occurred',
        digest: expect.stringMatching(/^[\da-f]{12}$/),
      },
    ],
    ['get', '/api/down', 503, { title: 'Service Unavailable' }],
    ['put', '/api/missing', 405, { title: 'Method Not Allowed', detail: 'Method not allowed' }],
    ['get', '/api/missing?page=none', 400, { title: 'Bad Request', errors: [{ path: 'page' }] }],
  ] as const)('%s %s is problem details for those who ask for JSON', async ([method, path, status, members]) => {
    const { app } = faultyApp()
    const answer = await request(app)[method](path).set('Accept', 'application/json').expect(status)
    expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
    expect(answer.body).toMatchObject({ status, ...members })
    expect(answer.text).not.toContain('secret')
  })

  test.for([
    ['application/json', true],
    ['application/problem+json', true],
    ['application/json, text/plain, */*', true], // axios
    ['text/html;q=0.5, application/json', true],
    ['*/*', false], // fetch, curl
    [undefined, false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['text/plain, application/json', false],
    ['application/json;q=0', false],
    ['image/png', false],
    [`application/json${', text/x'.repeat(300)}`, false],
    ['json', false],
  ] as const)('is JSON for %j: %s', async ([accept, isJson]) => {
    const { app } = faultyApp()
    const asked = request(app).get('/api/missing')
    const answer = await (accept === undefined ? asked : asked.set('Accept', accept)).expect(404)
    expect(answer.headers['content-type']).toBe(isJson ? 'application/problem+json' : 'text/plain; charset=utf-8')
  })

  test('keeps its headers, and HEAD has the length of GET', async () => {
    const { app } = faultyApp()
    const ask = (method: 'get' | 'head', path: string) => request(app)[method](path).set('Accept', 'application/json')
    expect((await ask('get', '/api/down')).headers['retry-after']).toBe('5')
    const [got, head] = [await ask('get', '/api/missing'), await ask('head', '/api/missing')]
    expect(head.headers['content-length']).toBe(got.headers['content-length'])
    expect((await ask('get', '/api/none')).headers['location']).toBe('/there')
  })
})

describe('the body of a request to a handler', () => {
  const MEGABYTE = 1_048_576
  const json = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2))

  test.for([
    ['/api/a', MEGABYTE, 200],
    ['/api/a', MEGABYTE + 1, 413],
    ['/large', 2_000_000, 200],
    ['/large', 2_000_001, 413],
    ['/endless', 3 * MEGABYTE, 200],
  ] as const)('%s with %i bytes is answered by %i', async ([path, bytes, status]) => {
    const { app } = faultyApp()
    await request(app).post(path).type('json').send(json(bytes)).expect(status)
  })

  test('is counted where it states no length, and a fault is JSON for those who ask', async () => {
    const { app } = faultyApp()
    const port = await portOf(app)
    const body = new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < 17; sent += 1) controller.enqueue(Buffer.alloc(65_536, 0x20))
        controller.close()
      },
    })
    const answer = await fetch(`http://127.0.0.1:${port}/api/a`, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { Accept: 'application/json', Connection: 'close' },
    } as RequestInit)
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { title: 'Payload Too Large', status: 413, detail: `The body is over its limit: bytes ${MEGABYTE}` },
    ])
  })

  test('a limit that is not a number is a failure that names the route', async () => {
    const { app, logs } = faultyApp()
    await request(app).get('/misspelt').expect(500)
    expect(JSON.stringify(logs)).toContain('/misspelt: bodyLimit is not a number of bytes')
  })
})
