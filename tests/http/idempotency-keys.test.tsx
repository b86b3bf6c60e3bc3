/** A key against repetition is known to whoever has seen it: what it gives out belongs to one visitor and one input. */
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { findProgram } from '../support/programs.ts'
import { startRedis } from '../support/redis-server.ts'
import { page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const KEY = 'a-key-that-two-visitors-have'
const ROUTER_KEY = '4294967295-1234567890-1234567-3333333'

/** An instance whose action signs in whoever calls it, and counts. */
async function instance(environment: Readonly<Record<string, string>>) {
  const ran: unknown[] = []
  const signIn = action({
    input: z.object({ name: z.string() }),
    handler: ({ input, context }) => {
      ran.push(input.name)
      context.headers.append('Set-Cookie', `user=${input.name}-${ran.length}; Path=/`)
      return { signedIn: input.name }
    },
  })
  const { app } = tinyApp({
    routes: { '/': { page: page(() => <p>names</p>) } },
    environment: { ...environment },
    actions: { [MODULE]: { signIn } },
  })

  async function call(
    name: string,
    { cookie, address = '192.0.2.1', key = KEY }: { cookie?: string; address?: string; key?: string } = {},
  ) {
    const answer = await request(app)
      .post(`/_m/data/?_action=${actionId(MODULE, 'signIn')}`)
      .set('X-Millrace-Build', 'development')
      .set('X-Millrace-Once', key)
      .set('X-Forwarded-For', address)
      .set(cookie === undefined ? {} : { Cookie: cookie })
      .send({ input: { name } })
    expect(answer.status).toBe(200)
    return String(answer.headers['set-cookie'])
  }
  return { call, ran, app }
}

function suite(environment: () => Promise<Readonly<Record<string, string>>>): void {
  test('gives a repetition the outcome, whatever address and settings it has by now', async () => {
    const { call, ran } = await instance(await environment())
    const first = await call('ann', { cookie: 'sid=1; theme=dark' })
    expect(await call('ann', { cookie: '_ga=GA1; theme=light; sid=1', address: '198.51.100.7' })).toBe(first)
    expect(ran).toEqual(['ann'])
  })

  test('gives the router’s repetition the cookie, but not over what another tab has written meanwhile', async () => {
    const { call, ran } = await instance(await environment())
    const first = await call('ann', { key: ROUTER_KEY, cookie: 'user=before' })
    const [pair = ''] = first.split(';')
    const again = (cookie: string) => call('ann', { key: ROUTER_KEY, cookie })
    expect([await again('user=before; AWSALB=2'), await again(pair)]).toEqual([first, first])
    expect(await again('user=of-another-tab')).toBe('undefined')
    expect(ran).toEqual(['ann'])
  })

  test('gives nobody the cookie of another visitor', async () => {
    const { call } = await instance(await environment())
    const cookies = [
      await call('ann', { cookie: 'sid=1' }),
      await call('ann', { cookie: 'sid=2' }),
      await call('ann', { cookie: '__Host-session=1' }),
      await call('ann'),
    ]
    expect(new Set(cookies).size).toBe(4)
    expect(await call('ann')).toBe(cookies.at(-1))
  })

  test('gives the visitor the outcome who has got the cookies that it sets, and nobody who makes some up', async () => {
    const { call, ran } = await instance(await environment())
    const first = await call('ann', { cookie: 'sid=1' })
    expect(await call('ann', { cookie: 'sid=1; user=ann-1' })).toBe(first)
    expect(ran).toEqual(['ann'])
    expect(await call('ann', { cookie: 'sid=1; user=ann-2' })).not.toBe(first)
    expect(await call('ann', { cookie: 'user=ann-1' })).not.toBe(first)
  })

  test('runs for another input', async () => {
    const { call, ran } = await instance(await environment())
    expect(await call('ann')).not.toBe(await call('bob'))
    expect(ran).toEqual(['ann', 'bob'])
  })
}

describe('a key against repetition, in SQLite', () => {
  suite(() => Promise.resolve({ TRUST_PROXY: '127.0.0.1' }))
})

describe.skipIf(findProgram('redis-server') === undefined)('a key against repetition, in Redis', () => {
  suite(async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return { TRUST_PROXY: '127.0.0.1', REDIS_URL: redis.url, SECRET_KEYS: 'a-key-for-tests-of-some-length' }
  })
})

test('a form of a document that is sent again sets its cookie again, whatever another one has set since', async () => {
  const choose = action({
    input: z.object({ lang: z.string() }),
    handler: ({ input, context }) => context.headers.append('Set-Cookie', `lang=${input.lang}; Path=/`),
  })
  const { app } = tinyApp({
    routes: { '/': { page: page(() => <p>names</p>) } },
    actions: { [MODULE]: { choose } },
  })
  const press = async (lang: string, cookie: string) => {
    const sent = request(app)
      .post(`/?_action=${actionId(MODULE, 'choose')}`)
      .type('form')
      .set('Cookie', cookie)
    const answer = await sent.send({ lang, $ACTION_ONCE: KEY }).expect(303)
    return String(answer.headers['set-cookie'])
  }
  expect(await press('de', '')).toBe('lang=de; Path=/')
  expect(await press('en', 'lang=de')).toBe('lang=en; Path=/')
  expect(await press('de', 'lang=en')).toBe('lang=de; Path=/')
})
