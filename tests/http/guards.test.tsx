/** What authors are promised of a guard: it is in front of everything at and below its entry, whatever way leads there. */
import { setImmediate as turn } from 'node:timers/promises'
import request, { type Response as Answer } from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventStream } from '../../src/server/api/event-stream.ts'
import type { GuardArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { forbidden, notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { wanting } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const SECRET = 'secret-canary'

type Guard = (args: GuardArgs) => unknown

/** An area behind a guard: pages, a form, handlers and an event stream; each notes that it has run. */
function guardedApp(guard: Guard, more: { readonly guardModule?: object } = {}) {
  const ran: string[] = []
  const guardModule = moduleOf(more.guardModule ?? { guard: (args: GuardArgs) => (ran.push('guard'), guard(args)) })
  const secret = (name: string) => moduleOf({ loader: () => (ran.push(name), { text: SECRET }) })
  const shows = page(({ data }: { data: { text: string } | undefined }) => <h1>{data?.text ?? SECRET}</h1>)
  const around = page(({ data, children }: { data?: { text: string }; children: unknown }) => [data?.text, children])
  const answer = (): Response => (ran.push('handler'), new Response(SECRET))
  const methods = { GET: answer, POST: answer, PUT: answer, PATCH: answer, DELETE: answer }
  const actions = {
    save: action({ handler: () => void ran.push('action') }),
    open: action({ guarded: false, handler: () => void ran.push('open') }),
  }
  const { app, logs } = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), layout: around, layoutLoader: moduleOf({ loader: () => ({ text: 'site' }) }) },
      '/open': { page: page(() => <p>open</p>) },
      '/in': { ...fallbacks('in'), guard: guardModule, layout: around, layoutLoader: secret('layout') },
      '/in/page': { page: shows, loader: secret('loader') },
      '/in/bare': { page: shows },
      '/in/[...rest]': { page: shows, loader: secret('rest') },
      '/in/api': { handler: moduleOf(methods) },
      '/in/preflight': { handler: moduleOf({ ...methods, OPTIONS: answer }) },
      '/in/events': { handler: moduleOf({ GET: () => eventStream((stream) => void stream.send({ data: SECRET })) }) },
      '/(area)': { ...fallbacks('area'), guard: guardModule },
      '/(area)/grouped': { page: shows, loader: secret('loader') },
      '/files/[[...path]]': { guard: guardModule, page: shows, loader: secret('loader') },
      '/gate': { guard: guardModule, handler: moduleOf(methods) },
    } as never,
    rules: { rewrites: [{ source: '/alias', destination: '/in/page' }] },
    actions: { [MODULE]: actions },
  })
  return { app, ran, logs }
}

const ids = { save: actionId(MODULE, 'save'), open: actionId(MODULE, 'open') }
const form = 'application/x-www-form-urlencoded'
type App = ReturnType<typeof guardedApp>['app']

/** Ways to a page, and whether they lead to a document. */
const PAGES: readonly (readonly [way: string, kind: 'document' | 'data', ask: (app: App) => request.Test])[] = [
  ['a document', 'document', (app) => request(app).get('/in/page')],
  ['a document without loaders', 'document', (app) => request(app).get('/in/bare')],
  ['HEAD', 'document', (app) => request(app).head('/in/page')],
  ['an encoded path', 'document', (app) => request(app).get('/%69n/%70age')],
  ['a catch-all', 'document', (app) => request(app).get('/in/no/such/page')],
  ['a rewrite', 'document', (app) => request(app).get('/alias')],
  ['a group', 'document', (app) => request(app).get('/grouped')],
  ['an optional catch-all', 'document', (app) => request(app).get('/files')],
  ['a form', 'document', (app) => request(app).post(`/in/page?_action=${ids.save}.1`).type(form).send('a=1')],
  ['data', 'data', (app) => request(app).get('/_m/data/in/page')],
  ['data without loaders', 'data', (app) => request(app).get('/_m/data/in/bare')],
  ['data of the page alone', 'data', (app) => request(app).get(`/_m/data/in/page?${wanting('/in/page#page')}`)],
  ['data of the layout alone', 'data', (app) => request(app).get(`/_m/data/in/page?${wanting('/in#layout')}`)],
  ['data of the site alone', 'data', (app) => request(app).get(`/_m/data/in/page?${wanting('/#layout')}`)],
  ['data of nothing', 'data', (app) => request(app).get('/_m/data/in/page?_m=')],
  ['a prefetch', 'data', (app) => request(app).get('/_m/data/in/page').set('Purpose', 'prefetch')],
  ['data by HEAD', 'data', (app) => request(app).head('/_m/data/in/page')],
  ['data of an encoded path', 'data', (app) => request(app).get('/_m/data/%69n/page')],
  ['data of a rewrite', 'data', (app) => request(app).get('/_m/data/alias')],
  ['data of a group', 'data', (app) => request(app).get('/_m/data/grouped')],
  ['a call', 'data', (app) => request(app).post(`/_m/data/in/page?_action=${ids.save}`).type(form).send('a=1')],
]

const HANDLERS: readonly (readonly [way: string, ask: (app: App) => request.Test])[] = [
  ['GET', (app) => request(app).get('/in/api')],
  ['HEAD', (app) => request(app).head('/in/api')],
  ['POST', (app) => request(app).post('/in/api').send({ a: 1 })],
  ['PUT', (app) => request(app).put('/in/api').send({ a: 1 })],
  ['PATCH', (app) => request(app).patch('/in/api').send({ a: 1 })],
  ['DELETE', (app) => request(app).delete('/in/api')],
  ['its own OPTIONS', (app) => request(app).options('/in/preflight')],
  ['an event stream', (app) => request(app).get('/in/events')],
  ['an encoded path', (app) => request(app).get('/in/%61pi')],
  ['an entry of its own', (app) => request(app).get('/gate')],
]

const fail = (): never => {
  throw new Error('a secret of the server')
}
const REFUSALS: readonly (readonly [name: string, guard: Guard, status: number])[] = [
  ['notFound()', () => notFound(), 404],
  ['forbidden()', () => forbidden(), 403],
  ['unauthorized()', () => unauthorized(), 401],
  ['unauthorized() later', async () => (await turn(), unauthorized()), 401],
  ['an error', fail, 500],
  ['a redirect to another site', () => redirect('https://else.test/'), 500],
  ['false', () => false, 500],
  ['a Response', () => new Response('refused', { status: 401 }), 500],
]

function expectNothing(answer: Answer, ran: readonly string[]): void {
  expect(JSON.stringify(answer.headers) + (answer.text ?? '')).not.toMatch(/secret/)
  expect(ran).toEqual(['guard'])
}

describe.for(PAGES)('a guard in front of %s', ([way, kind, ask]) => {
  test.for(REFUSALS)('refuses by %s', async ([, guard, status]) => {
    const { app, ran } = guardedApp(guard)
    const answer = await ask(app)
    expect([way, answer.status, answer.headers['cache-control']]).toEqual([way, status, 'no-store'])
    expectNothing(answer, ran)
    if (kind === 'document' && answer.text) expect(answer.text).toContain('<p id="fallback">root ')
    if (kind === 'data' && answer.text) expect(answer.text).toContain('"at":0')
  })

  test('redirects', async () => {
    const { app, ran } = guardedApp(({ context }) => {
      context.headers.append('Set-Cookie', 'seen=1; Path=/')
      redirect('/open?next=1')
    })
    const answer = await ask(app)
    const expected = kind === 'data' ? 200 : answer.request.method === 'POST' ? 303 : 307
    expect([way, answer.status, answer.headers['set-cookie']]).toEqual([way, expected, ['seen=1; Path=/']])
    if (kind === 'document') expect(answer.headers['location']).toBe('/open?next=1')
    else if (answer.text) expect(answer.text).toContain('"redirect":{"to":"/open?next=1"}')
    expectNothing(answer, ran)
  })

  test('lets it through', async () => {
    const { app, ran } = guardedApp(({ context }) => context.headers.set('X-Guard', 'passed'))
    const answer = await ask(app)
    expect([way, answer.status]).toEqual([way, way === 'a form' ? 303 : 200])
    if (way === 'a form' || way === 'a call') expect(ran).toContain('action')
    else expect(ran.filter((name) => name === 'guard')).toEqual(['guard'])
    expect(answer.headers['x-guard']).toBe('passed')
    expect(ran[0]).toBe('guard')
  })
})

describe.for(HANDLERS)('a guard in front of a handler, by %s', ([way, ask]) => {
  test.for(REFUSALS)('refuses by %s', async ([, guard, status]) => {
    const { app, ran } = guardedApp(guard)
    const answer = await ask(app).set('Accept', 'application/json')
    expect([way, answer.status, answer.headers['cache-control']]).toEqual([way, status, 'no-store'])
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expectNothing(answer, ran)
  })

  test('redirects, and has nothing sent again', async () => {
    const { app, ran } = guardedApp(() => redirect('/open'))
    const answer = await ask(app)
    const repeats = ['GET', 'HEAD'].includes(answer.request.method)
    expect([way, answer.status, answer.headers['location']]).toEqual([way, repeats ? 307 : 303, '/open'])
    expectNothing(answer, ran)
  })
})

test('a handler behind a guard that lets it through answers', async () => {
  const { app, ran } = guardedApp(() => undefined)
  for (const [way, ask] of HANDLERS) {
    if (way !== 'an event stream') expect([way, (await ask(app)).status]).toEqual([way, 200])
  }
  expect(ran.filter((name) => name === 'guard')).toHaveLength(HANDLERS.length - 1)
})

test('the methods of a handler are no secret: OPTIONS of the runtime and 405 ask no guard', async () => {
  const { app, ran } = guardedApp(() => unauthorized())
  await request(app).options('/in/api').expect(204)
  await request(app).trace('/in/api').expect(405)
  expect(ran).toEqual([])
})

test('a trailing slash leads to the tidy path, and no further', async () => {
  const { app, ran } = guardedApp(() => unauthorized())
  expect((await request(app).get('/in/page/').expect(308)).headers['location']).toBe('/in/page')
  expect(ran).toEqual([])
})

test('pages outside ask no guard', async () => {
  const { app, ran } = guardedApp(() => unauthorized())
  await request(app).get('/open').expect(200)
  await request(app).get('/_m/data/open').expect(200)
  expect(ran).toEqual([])
})

describe('actions', () => {
  test('with guarded: false run without the guard, and their page asks it afterwards', async () => {
    const { app, ran } = guardedApp(() => unauthorized())
    await request(app).post(`/in/page?_action=${ids.open}.1`).type(form).send('a=1').expect(303)
    expect(ran).toEqual(['open'])
    const called = await request(app).post(`/_m/data/in/page?_action=${ids.open}`).type(form).send('a=1')
    expect(called.text).toContain('"unauthorized"')
    expect(ran).toEqual(['open', 'open', 'guard'])
    expect(called.text).not.toContain(SECRET)
  })
})

test.for([
  ['GET', PAGES.filter(([way]) => ['a document', 'data', 'a prefetch'].includes(way))],
  ['POST', PAGES.filter(([way]) => ['a form', 'a call'].includes(way))],
] as const)('a guard sees the method of the request: %s', async ([method, ways]) => {
  for (const [way, , ask] of ways) {
    const seen: string[] = []
    const { app, ran } = guardedApp((args) => {
      seen.push(args.request.method)
      if (args.request.method !== 'GET') forbidden()
    })
    const { status } = await ask(app)
    expect([way, seen, status]).toEqual([way, [method], method === 'GET' ? 200 : 403])
    if (method === 'POST') expect(ran).toEqual(['guard'])
  }
})

test('a guard sees the method of a page again after an action, here and where it leads to', async () => {
  for (const [way, , ask] of PAGES.filter(([name]) => ['a form', 'a call'].includes(name))) {
    const seen: string[] = []
    const { app } = guardedApp(({ request: { method } }) => void seen.push(method))
    await ask(app)
    expect([way, seen]).toEqual([way, way === 'a form' ? ['POST'] : ['POST', 'GET']])
  }
})

test('what counts as a guard sees the method of a call, too', async () => {
  const seen: string[] = []
  const judge = (name: string) => (args: LoaderArgs) => {
    seen.push(`${name} ${args.request.method}`)
    return {}
  }
  const { app } = tinyApp({
    routes: {
      '/': {
        layout: page(({ children }: { children: unknown }) => children),
        layoutLoader: moduleOf({ loader: judge('layout') }),
      },
      '/edit': { page: page(() => 'edit'), loader: moduleOf({ guards: true, loader: judge('page') }) },
    } as never,
    actions: {
      [MODULE]: {
        save: action({ handler: () => undefined }),
        show: action({ input: z.object({ name: z.string() }), handler: () => undefined }),
      },
    },
  })
  const shown = actionId(MODULE, 'show')
  for (const [path, status, fields] of [
    [`/_m/data/edit?_action=${ids.save}`, 200, {}],
    [`/edit?_action=${shown}`, 422, {}],
    ['/edit', 422, { $ACTION_ID: shown }],
  ] as const) {
    await request(app)
      .post(path)
      .type(form)
      .send({ a: '1', ...fields })
      .expect(status)
    expect([path, seen.splice(0)]).toEqual([path, ['layout POST', 'page POST', 'layout GET', 'page GET']])
  }
})

test('a guard, a loader and a handler see one spelling of a path', async () => {
  for (const path of ['/in/page', '/%69n/%70age', '/_m/data/in/p%61ge', '/in/%61pi']) {
    const seen: string[] = []
    const { app } = guardedApp(({ request: { url } }) => void seen.push(new URL(url).pathname))
    await request(app).get(path).expect(200)
    expect(seen).toEqual([path.endsWith('pi') ? '/in/api' : '/in/page'])
  }
})

test('a guard whose module exports a default function is that function', async () => {
  const { app } = guardedApp(() => undefined, { guardModule: { default: () => forbidden() } })
  await request(app).get('/in/page').expect(403)
})

test('a module without a function refuses everything', async () => {
  const { app, logs } = guardedApp(() => undefined, { guardModule: { Guard: () => undefined } })
  await request(app).get('/in/page').expect(500)
  await request(app).get('/in/api').expect(500)
  expect(JSON.stringify(logs)).toContain('/in#guard: the module exports no function guard')
})

test('a guard is asked before a body is read, and a visitor who leaves meanwhile is no failure', async () => {
  const asked: AbortSignal[] = []
  const { app, ran, logs } = guardedApp(({ signal }) => {
    asked.push(signal)
    return new Promise(() => undefined)
  })
  const body = 'Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\n'
  const port = await portOf(app)
  for (const bytes of [
    getRequest('/in/page'),
    getRequest('/_m/data/in/page'),
    getRequest('/in/api'),
    `POST /in/page?_action=${ids.save}.1 HTTP/1.1\r\n${body}`,
    `POST /_m/data/in/page?_action=${ids.save} HTTP/1.1\r\n${body}`,
    `POST /in/api HTTP/1.1\r\n${body}`,
  ]) {
    const before = asked.length
    const connection = await connectRaw(port)
    await connection.send(bytes)
    while (asked.length === before) await turn()
    connection.socket.destroy()
    while (asked[before]?.aborted === false) await turn()
  }
  expect([ran.length, new Set(ran)]).toEqual([6, new Set(['guard'])])
  expect(logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
})
