import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { forbidden, notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'

/** A server whose page counts what its action has stored, and calls as the client router makes them. */
async function callableApp() {
  const stored: unknown[] = []
  const actions = {
    store: action({
      input: z.object({
        name: z.string().max(5, 'is too long'),
        address: z.object({ city: z.string().min(1, 'is missing') }).optional(),
      }),
      secret: ['pin'],
      handler: ({ input, state, revalidate }) => {
        stored.push(input.name)
        revalidate('names', '/lists/*')
        return { stored: input.name, state, at: new Date(0) }
      },
    }),
    bound: action({ args: z.tuple([z.number()]), handler: ({ args, state }) => void stored.push([args, state]) }),
    leave: action({ handler: () => redirect('/other?x=1') }),
    abroad: action({ handler: () => redirect('https://else.test/x', 303, { external: true }) }),
    none: action({ handler: () => notFound() }),
    signOut: action({
      handler: ({ context, revalidate }) => {
        revalidate('names')
        context.headers.append('Set-Cookie', 'user=; Path=/; Max-Age=0')
        unauthorized()
      },
    }),
    enter: action({
      handler: ({ context }) => {
        context.headers.append('Set-Cookie', 'user=ann; Path=/')
        redirect('/other')
      },
    }),
    goAbroad: action({
      handler: ({ context }) => {
        context.headers.append('Set-Cookie', 'user=ann; Path=/')
        redirect('https://else.test/x', 303, { external: true })
      },
    }),
    fail: action({
      handler: () => {
        throw new Error('a secret')
      },
    }),
    signIn: action({ handler: ({ context }) => context.headers.append('Set-Cookie', 'user=ann; Path=/') }),
  }
  const { app, logs } = tinyApp({
    routes: {
      '/': {
        ...fallbacks('root'),
        layout: page(({ children }: { children: unknown }) => children),
        layoutLoader: moduleOf({ loader: ({ context }: LoaderArgs) => ({ user: context.cookie('user') ?? null }) }),
      },
      '/names': { page: page(() => <p>names</p>), loader: moduleOf({ loader: () => ({ count: stored.length }) }) },
      '/other': {
        page: page(() => <p>other</p>),
        loader: moduleOf({ loader: ({ request: { url, method } }: LoaderArgs) => ({ url, method }) }),
      },
      '/private': { page: page(() => <p>private</p>), loader: moduleOf({ guards: true, loader: () => forbidden() }) },
    } as never,
    actions: { [MODULE]: actions },
  })

  /** The answer's status and records. */
  async function call(name: string, body: object | string, { path = '/names', headers = {}, query = '' } = {}) {
    const answer = await request(app)
      .post(`/_m/data${path}?_action=${actionId(MODULE, name)}${query}`)
      .set('X-Millrace-Build', 'development')
      .set(typeof body === 'string' ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {})
      .set(headers)
      .buffer(true)
      .parse((res, done) => {
        let text = ''
        res.on('data', (chunk: Buffer) => (text += String(chunk)))
        res.on('end', () => done(null, text))
      })
      .send(body)
    const text = String(answer.body)
    const isData = String(answer.headers['content-type']).includes('route-data')
    const records = isData
      ? text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : []
    return { status: answer.status, headers: answer.headers, text, records }
  }
  return { app, logs, stored, call }
}

const HEAD = { v: 1, build: 'development' }

describe('a call of the client router', () => {
  test('brings the result first, then fresh data of the segments on screen', async () => {
    const { call, stored } = await callableApp()
    const { status, records, headers } = await call('store', 'name=ann', { query: '&_m=%2Fnames%23page' })
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('private, no-store')
    expect(records[0]).toMatchObject({ ...HEAD, route: '/names' })
    expect(records[1]).toMatchObject({ segment: '#action', lifetime: 0 })
    expect(JSON.stringify(records)).toContain('names')
    expect(records.filter(({ segment }) => segment === '/names#page')).toEqual([
      { segment: '/names#page', data: { count: 1 } },
    ])
    expect(records.some(({ segment }) => segment === '/#layout')).toBe(false)
    expect(records.at(-1)).toEqual({ done: true })
    expect(stored).toEqual(['ann'])
  })

  test('may bring JSON instead of a form', async () => {
    const { call, stored } = await callableApp()
    expect((await call('store', { input: { name: 'ann' } })).status).toBe(200)
    expect(stored).toEqual(['ann'])
  })

  test('tells bound arguments from a state by the schema', async () => {
    const { call, stored } = await callableApp()
    await call('bound', { args: [1] })
    await call('bound', { args: [2, { former: true }] })
    expect(stored).toEqual([
      [[1], undefined],
      [[2], { former: true }],
    ])
    expect((await call('bound', { args: ['1'] })).status).toBe(400)
    expect((await call('bound', { args: [1, 2, 3] })).status).toBe(400)
    expect((await call('store', { args: [1, 2], input: { name: 'ann' } })).status).toBe(400)
  })

  test('is told what is wrong by 422, by name of the field, and which fields are secret', async () => {
    const { call, stored } = await callableApp()
    const { status, records } = await call('store', 'name=annabel&address.city=')
    expect(status).toBe(422)
    expect(records).toEqual([
      expect.objectContaining({ route: '/names' }),
      {
        segment: '#action',
        lifetime: 0,
        data: { errors: { name: ['is too long'], 'address.city': ['is missing'] }, secret: ['pin'] },
      },
      { done: true },
    ])
    expect(stored).toEqual([])
  })

  test('is told where to go, with the data of that page', async () => {
    const { call } = await callableApp()
    const { status, records } = await call('leave', '')
    expect(status).toBe(200)
    expect(records[0]).toMatchObject({ ...HEAD, route: '/other', redirect: { to: '/other?x=1' } })
    const found = records.find(({ segment }) => segment === '/other#page')
    expect(found?.['data']).toMatchObject({ url: expect.stringMatching(/\/other\?x=1$/) as string, method: 'GET' })
  })

  test('is told of another site without its data', async () => {
    const { call } = await callableApp()
    const { status, records } = await call('abroad', '')
    expect([status, records[0]]).toMatchObject([200, { redirect: { to: 'https://else.test/x', external: true } }])
  })

  test('is told a refusal by its status and the boundary that shows it', async () => {
    const { call } = await callableApp()
    const { status, records } = await call('none', '')
    expect(status).toBe(404)
    expect(records[1]).toEqual({ outcome: { kind: 'notFound', at: 0 } })
  })

  test('is told of a failure its digest, and nothing else', async () => {
    const { call, logs } = await callableApp()
    const { status, records, text } = await call('fail', '')
    expect(status).toBe(500)
    const digest = logs.find(({ msg }) => msg === 'uncaught failure')?.['digest']
    expect(records[1]).toEqual({ outcome: { kind: 'error', at: 0, digest } })
    expect(text).not.toContain('a secret')
  })

  test('brings loaders the cookies that it has set, and drops what was known before', async () => {
    const { call } = await callableApp()
    const { records, headers } = await call('signIn', '')
    expect(headers['set-cookie']).toEqual(['user=ann; Path=/'])
    expect(records.find(({ segment }) => segment === '/#layout')).toMatchObject({ data: { user: 'ann' } })
    expect(records[1]).toMatchObject({ segment: '#action', data: { revalidate: ['/*'] } })
  })

  test.for([
    ['enter', 200],
    ['goAbroad', 200],
    ['signOut', 401],
  ] as const)('drops what was known before also where it does not come back: %s', async ([name, status]) => {
    const { call } = await callableApp()
    const answer = await call(name, '')
    expect([answer.status, answer.headers['set-cookie']]).toEqual([status, [expect.stringContaining('user=')]])
    expect(answer.records[1]).toMatchObject({
      segment: '#action',
      data: { revalidate: expect.arrayContaining(['/*']) as unknown },
    })
    if (name === 'signOut') expect(answer.records[2]).toEqual({ outcome: { kind: 'unauthorized', at: 0 } })
    // Of the page that follows, the visitor is who the action has made them.
    if (name === 'enter') {
      expect(answer.records.find(({ segment }) => segment === '/#layout')).toMatchObject({ data: { user: 'ann' } })
    }
  })

  test('meets the guards of its page before it runs', async () => {
    const { call, stored } = await callableApp()
    const { status, headers, records } = await call('store', 'name=ann', { path: '/private' })
    expect(status).toBe(403)
    // The time of a guard is that of the call, and no loader's of this answer.
    expect(headers['server-timing']).toMatch(/^head;dur=/)
    expect(records[1]).toEqual({ outcome: { kind: 'forbidden', at: 0 } })
    expect(stored).toEqual([])
  })

  test('that is sent again after its answer was lost does not run twice', async () => {
    const { call, stored } = await callableApp()
    const headers = { 'X-Millrace-Once': '0d6a7c0e-8f0f-4b5e-9b7d-000000000001' }
    const first = await call('store', 'name=ann', { headers })
    const second = await call('store', 'name=ann', { headers })
    expect(stored).toEqual(['ann'])
    expect(second.records[1]).toEqual(first.records[1])
    await call('store', 'name=ann', { headers: { 'X-Millrace-Once': '0d6a7c0e-8f0f-4b5e-9b7d-000000000002' } })
    expect(stored).toEqual(['ann', 'ann'])
  })

  const FORMER = { headers: { 'X-Millrace-Build': 'former' } }

  test('of another build is run, and gets its result without data that its page would not understand', async () => {
    const { call, stored } = await callableApp()
    const { status, headers, records } = await call('store', 'name=ann', { ...FORMER, query: '&_m=%2Fgone%23page' })
    expect([status, headers['x-millrace-build']]).toEqual([200, 'development'])
    expect(records[0]).toMatchObject({ ...HEAD, route: '/names' })
    expect(records.filter(({ segment }) => segment !== undefined).map(({ segment }) => segment)).toEqual(['#action'])
    expect(stored).toEqual(['ann'])
    const refused = await call('store', 'name=annabel', FORMER)
    expect([refused.status, refused.records[1]]).toMatchObject([422, { data: { errors: { name: ['is too long'] } } }])
  })

  test('of another build is told where it leads, and no loader of that page has run for it', async () => {
    const { call } = await callableApp()
    const { status, records } = await call('leave', '', FORMER)
    expect([status, records]).toEqual([200, [{ ...HEAD, redirect: { to: '/other?x=1' } }, { done: true }]])
  })

  test('of another build meets the guards and refusals that any call meets', async () => {
    const { call, stored } = await callableApp()
    expect((await call('none', '', FORMER)).status).toBe(404)
    expect((await call('store', 'name=ann', { ...FORMER, path: '/private' })).status).toBe(403)
    const elsewhere = await call('store', 'name=ann', { ...FORMER, path: '/nowhere' })
    expect([elsewhere.status, elsewhere.records[0]]).toMatchObject([200, { route: null }])
    expect(stored).toEqual(['ann'])
  })

  test.for([
    [{ Origin: 'https://evil.test' }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ 'Content-Type': 'text/plain' }, 415],
    [{ 'Content-Length': '99999999' }, 413],
  ] as const)('with %j is refused by %i and has not run', async ([headers, status]) => {
    const { call, stored } = await callableApp()
    expect((await call('store', 'name=ann', { headers })).status).toBe(status)
    expect(stored).toEqual([])
  })

  test('of an unknown action is told to load the document', async () => {
    const { app } = await callableApp()
    const answer = await request(app).post('/_m/data/names?_action=unknown').type('form').send('name=ann').buffer(true)
    expect(answer.status).toBe(404)
    expect(String(answer.text).split('\n')[0]).toContain('"document":true')
  })
})
