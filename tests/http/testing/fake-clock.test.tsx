/** What a test moves with `fakeClock`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineEnv, defineSession, defineStoredSession, type LoaderContext } from 'millrace/server'
import { createTestApp, fakeClock, renderRoute, type TestDefinition } from 'millrace/testing'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'

const HOUR = 3_600
const schema = z.object({ user: z.string() })
const idle = defineStoredSession({ name: 'idle', schema, user: ({ user }) => user, idleSeconds: HOUR })
const aged = defineStoredSession({ name: 'aged', schema, user: ({ user }) => user, maxAgeSeconds: HOUR })
const sealed = defineSession({ name: 'sealed', schema, maxAgeSeconds: HOUR })

/** An application with one loader, called by a visitor whose browser forgets no cookie. */
async function visited(
  loader: (context: LoaderContext, step: string) => unknown,
  {
    environment = {},
    ...rest
  }: Partial<TestDefinition> & { readonly environment?: Readonly<Record<string, string>> } = {},
) {
  const clock = fakeClock(new Date('2031-05-01'))
  const GET = async ({ context, search }: { context: LoaderContext; search: { step?: string } }) =>
    Response.json((await loader(context, search.step ?? '')) ?? null)
  const routes = {
    '/': { handler: () => Promise.resolve({ GET }) as never },
    '/page': { page: () => Promise.resolve({ default: () => <p>page</p> }) },
  }
  const app = createTestApp({ ...rest, routes }, { clock, environment })
  let cookies = ''
  const ask = async (step = ''): Promise<unknown> => {
    const answer = await fetch(`${await app.origin()}/?step=${step}`, { headers: { Cookie: cookies } })
    const set = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0])
    if (set.length > 0) cookies = set.join('; ')
    expect(answer.status).toBe(200)
    return answer.json()
  }
  return { app, ask, clock }
}

const KINDS = { idle, aged, sealed }

/** Signs in to all kinds, and says to which somebody is signed in later. */
async function sessions(context: LoaderContext, step: string): Promise<readonly string[]> {
  const signedIn: string[] = []
  for (const [name, kind] of Object.entries(KINDS)) {
    const session = await kind.open(context)
    if (step === 'sign-in') await session.set({ user: 'ann' })
    if (session.data !== undefined) signedIn.push(name)
  }
  if (step === 'devices') return (await (await idle.open(context)).devices()).map(({ startedAt }) => String(startedAt))
  if (step === 'end') return [String(await idle.endAll(context, 'ann'))]
  return signedIn
}

describe.for([
  ['SQLite', true],
  ['Redis', findProgram('redis-server') !== undefined],
] as const)('sessions in %s', ([store, isPossible]) => {
  let redis: RedisServer | undefined
  beforeAll(async () => void (redis = store === 'Redis' && isPossible ? await startRedis() : undefined))
  afterAll(() => redis?.[Symbol.asyncDispose]())

  test.skipIf(!isPossible)('of every kind end when the test moves the clock', async () => {
    const shared = redis === undefined ? {} : { REDIS_URL: redis.url, SECRET_KEYS: 'k'.repeat(43) }
    const { app, ask, clock } = await visited(sessions, { environment: shared })
    await using _ = app
    expect(await ask('sign-in')).toEqual(['idle', 'aged', 'sealed'])
    expect(await ask('devices')).toEqual([String(clock.now())])
    clock.advance(40 * 60_000)
    expect(await ask()).toEqual(['idle', 'aged', 'sealed'])
    clock.advance(40 * 60_000)
    expect(await ask()).toEqual(['idle'])
    expect(await ask('end')).toEqual(['1'])
    expect(await ask()).toEqual([])
    expect(await ask('sign-in')).toEqual(['idle', 'aged', 'sealed'])
    clock.advance(61 * 60_000)
    expect(await ask()).toEqual([])
  })
})

test('limits, cached values, encrypted texts and the clock of the application move with it', async () => {
  let made = 0
  let text = ''
  const { app, ask, clock } = await visited(async (context, step) => {
    if (step === 'encrypt') text = await context.secrets.encrypt('x', { a: 1 }, HOUR)
    const { allowed } = await context.limit('k', { points: 1, seconds: 60 })
    const value = await context.cached('v', { seconds: 60 }, () => (made += 1))
    return [allowed, value, text !== '' && (await context.secrets.decrypt('x', text)) !== undefined, context.now()]
  })
  await using _ = app
  const start = clock.now()
  expect(await ask('encrypt')).toEqual([true, 1, true, start])
  expect(await ask()).toEqual([false, 1, true, start])
  clock.advance(61_000)
  expect(await ask()).toEqual([true, 2, true, start + 61_000])
  clock.advance(HOUR * 1_000)
  expect(await ask()).toEqual([true, 3, false, clock.now()])
})

test('a visitor who asked too often may ask again', async () => {
  const security = { limits: { data: { points: 1, seconds: 600 } } }
  const { app, clock } = await visited(() => null, { security })
  await using _ = app
  const data = async (): Promise<number> => (await fetch(`${await app.origin()}/_m/data/page`)).status
  expect([await data(), await data()]).toEqual([200, 429])
  clock.advance(601_000)
  expect(await data()).toBe(200)
})

describe('renderRoute of an application with variables of its own', () => {
  const env = defineEnv(z.object({ MILL_NAME: z.string() }))
  const Page = ({ data }: { data: { name: string } }) => <h1>{data.name}</h1>
  const app = {
    env,
    routes: {
      '/': {
        page: () => Promise.resolve({ default: Page as never }),
        loader: () => Promise.resolve({ loader: () => ({ name: env.MILL_NAME }) }),
      },
    },
  }

  test('needs none of them for given data, gives them to the test, and names those that do not fit', async () => {
    expect((await renderRoute('/', { app, data: { name: 'Old' } })).text('h1')).toBe('Old')
    const data = () => ({ name: env.MILL_NAME })
    const environment = { MILL_NAME: 'Upper' }
    expect((await renderRoute('/', { app, data, environment })).text('h1')).toBe('Upper')
    await expect(renderRoute('/', { app, data, environment: {} })).rejects.toThrow(/MILL_NAME.*is not set/)
  })
})
