import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { ID_FIELD } from '../../src/shared/protocol/action-call.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const CALL = `_action=${actionId(MODULE, 'save')}`

const DATA = { points: 3, seconds: 60 }

async function limited() {
  const runs: string[] = []
  const save = action({
    handler: () => {
      runs.push('save')
      return { saved: true }
    },
  })
  const { app, logs } = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), page: page(() => <p>home</p>) },
      '/count/[key]': {
        handler: moduleOf({
          GET: async ({ params, context }: LoaderArgs) =>
            Response.json(await context.limit(String((params as Record<string, unknown>)['key']), DATA)),
        }),
      },
    },
    actions: { [MODULE]: { save } },
    environment: { TRUST_PROXY: '127.0.0.0/8,::1,::ffff:127.0.0.1' },
    security: { limits: { actions: { points: 2, seconds: 60 }, data: DATA } },
  })
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  const data = (address = '192.0.2.1') => request(app).get('/_m/data/').set(from(address))
  const form = (address = '192.0.2.1') =>
    request(app).post(`/?${CALL}.1`).set(from(address)).type('form').send('name=a')
  const call = (address = '192.0.2.1') =>
    request(app)
      .post(`/_m/data/?${CALL}`)
      .set(from(address))
      .set('Content-Type', 'application/json')
      .send('{"input":{}}')
  const ask = (path: string) => request(app).get(encodeURI(path))
  return { app, logs, runs, data, form, call, from, ask }
}

describe('a visitor who asks too often', () => {
  test('for data is told when to come again; documents, others and what stands beside it go on', async () => {
    const { app, data, from, form } = await limited()
    for (let index = 0; index < 3; index += 1) await data().expect(200)
    const refused = await data().set('Purpose', 'prefetch').expect(429)
    expect(refused.headers['retry-after']).toMatch(/^(?:1?\d|20)$/)
    expect(refused.headers['cache-control']).toBe('no-store')
    expect(refused.headers['x-millrace-build']).toBeDefined()
    await request(app).get('/').set(from('192.0.2.1')).expect(200)
    await data('192.0.2.2').expect(200)
    expect((await form()).status).toBeLessThan(400)
  })

  test('is counted by the runtime alone: no key of the application is one of its own', async () => {
    const { data, ask } = await limited()
    for (const what of ['data', 'action']) {
      for (let index = 0; index < 4; index += 1)
        await ask(`/count/${what} 192.0.2.1`).set('X-Forwarded-For', '192.0.2.9')
    }
    for (let index = 0; index < 3; index += 1) await data().expect(200)
  })

  test('by actions is refused before they run, with and without JavaScript alike', async () => {
    const { runs, form, call, data } = await limited()
    expect((await form()).status).toBeLessThan(400)
    expect((await call()).status).toBe(200)
    const byForm = await form().expect(429)
    const byCall = await call().expect(429)
    for (const { headers } of [byForm, byCall]) expect(headers['retry-after']).toMatch(/^(?:[12]?\d|30)$/)
    expect(byForm.text).toContain('Too many at once')
    expect(runs).toHaveLength(2)
    await data().expect(200)
  })

  test('by actions is refused, too, where the form names its action in a field alone', async () => {
    const { app, runs, from, form, call, data } = await limited()
    const id = actionId(MODULE, 'save')
    const byField = (address = '192.0.2.1', url = '/') =>
      request(app)
        .post(url)
        .set(from(address))
        .type('form')
        .send({ [ID_FIELD]: id, name: 'a' })
    expect((await byField()).status).toBeLessThan(400)
    expect((await form()).status).toBeLessThan(400)
    const refused = await byField().expect(429)
    expect(refused.headers['retry-after']).toMatch(/^(?:[12]?\d|30)$/)
    expect(refused.text).toContain('Too many at once')
    await byField('192.0.2.1', '/?_action').expect(429)
    await call().expect(429)
    expect(runs).toHaveLength(2)
    expect((await byField('192.0.2.2')).status).toBeLessThan(400)
    await data().expect(200)
  })

  test('from many addresses of one IPv6 network is one visitor', async () => {
    const { data } = await limited()
    for (const host of ['1', '2', 'ffff:1']) await data(`2001:db8:1:2::${host}`).expect(200)
    await data('2001:db8:1:2:aaaa::9').expect(429)
    await data('2001:db8:1:3::1').expect(200)
  })
})

test('a limit that is none stops the start', () => {
  const start = () =>
    tinyApp({
      routes: { '/': { page: page(() => null) } },
      security: { limits: { data: { points: 0, seconds: 1 } } },
    })
  expect(start).toThrow(/A limit of 0 points in 1 seconds/)
})

test('where nothing can be counted, nobody is refused, and the log says so once', async () => {
  const { app, logs } = tinyApp({
    routes: { '/': { ...fallbacks('root'), page: page(() => <p>home</p>) } },
    security: { limits: { data: { points: 1, seconds: 60 } } },
  })
  await mkdir(join(app.dataDir, 'runtime.sqlite'), { recursive: true })
  for (let index = 0; index < 3; index += 1) await request(app).get('/_m/data/').expect(200)
  expect(logs.filter(({ msg }) => msg === 'visitors cannot be counted, and are not limited')).toHaveLength(1)
})

test('where nothing can be counted, what the application limits is not let through', async () => {
  const { app, logs } = tinyApp({
    routes: {
      '/count': {
        handler: moduleOf({
          GET: async ({ context }: LoaderArgs) => Response.json(await context.limit('password', DATA)),
        }),
      },
      '/wrong': {
        handler: moduleOf({
          GET: async ({ context }: LoaderArgs) => Response.json(await context.limit('x', { points: 0, seconds: 1 })),
        }),
      },
    },
  })
  const file = join(app.dataDir, 'runtime.sqlite')
  await mkdir(file, { recursive: true })
  await request(app).get('/count').expect(503).expect('Retry-After', '5')
  expect(logs.map(({ err }) => (err as { message?: string } | undefined)?.message)).toContainEqual(
    expect.stringContaining('The store of limits cannot be used'),
  )
  await rm(file, { recursive: true })
  await request(app).get('/count').expect(200)
  await request(app).get('/wrong').expect(500) // a fault of the application
})
