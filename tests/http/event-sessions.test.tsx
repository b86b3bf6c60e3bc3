/** An event stream belongs to the session that opened it, and ends with it. */
import { once } from 'node:events'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { eventStream } from '../../src/server/api/event-stream.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { portOf } from '../support/listening.ts'
import { findProgram } from '../support/programs.ts'
import { startRedis } from '../support/redis-server.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

const schema = z.object({ user: z.string() })
const user = (data: { readonly user: string }): string => data.user

interface SiteOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly idleSeconds?: number
  readonly sessionsPerUser?: number
  /** Of its sessions. */
  readonly clock?: () => number
  /** Whether the stream opens its session when it has begun already. */
  readonly isLate?: boolean
  /** Whether the function that sends runs for as long as the stream. */
  readonly isLong?: boolean
}

/** A site whose visitors sign in, listen and sign out by handlers. */
async function site({ environment = {}, isLate = false, isLong = false, clock, ...options }: SiteOptions = {}) {
  const stored = defineStoredSession({ schema, user, ...options }, clock)
  const sealed = defineSession({ name: 'sealed', schema, user, maxAgeSeconds: 2 }, clock)
  const does = {
    signIn: async ({ context, request }: LoaderArgs) =>
      (await stored.open(context)).set({ user: new URL(request.url).searchParams.get('user') ?? '' }),
    signOut: async ({ context }: LoaderArgs) => (await stored.open(context)).clear(),
    rotate: async ({ context }: LoaderArgs) => (await stored.open(context)).rotate(),
    endOthers: async ({ context }: LoaderArgs) => (await stored.open(context)).endOthers(),
    endAll: async ({ context, request }: LoaderArgs) =>
      stored.endAll(context, new URL(request.url).searchParams.get('user') ?? ''),
    seal: async ({ context, request }: LoaderArgs) =>
      (await sealed.open(context)).set({ user: new URL(request.url).searchParams.get('user') ?? 'ann' }),
  }
  const events =
    (kind: typeof stored | typeof sealed) =>
    async ({ context }: LoaderArgs) => {
      if (!isLate) await kind.open(context)
      return eventStream(async ({ send, signal }) => {
        if (isLate) await kind.open(context)
        send({ data: 'hello' })
        if (isLong) await once(signal, 'abort')
      })
    }
  const { app } = tinyApp({
    routes: {
      '/events': { handler: moduleOf({ GET: events(stored) }) },
      '/sealed-events': { handler: moduleOf({ GET: events(sealed) }) },
      '/public-events': {
        handler: moduleOf({ GET: () => eventStream(({ send }) => void send({ data: 'hello' })) }),
      },
      '/do/[what]': {
        handler: moduleOf({
          async POST(args: LoaderArgs) {
            await does[args.params['what' as never] as keyof typeof does](args)
            return new Response(null, { status: 204 })
          },
        }),
      },
    } as never,
    environment,
  })
  const origin = `http://127.0.0.1:${await portOf(app)}`

  /** @returns the cookie that the visitor has then. */
  async function act(what: string, cookie = ''): Promise<string> {
    const answer = await fetch(`${origin}/do/${what}`, { method: 'POST', headers: { cookie } })
    expect(answer.status).toBe(204)
    return answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
  }

  /** Listens. @returns what of the stream has arrived, and whether it has ended. */
  async function listen(path: string, cookie = '') {
    const answer = await fetch(`${origin}${path}`, { headers: { cookie } })
    const state = { text: '', isOver: false }
    const read = async (): Promise<void> => {
      for await (const part of answer.body?.pipeThrough(new TextDecoderStream() as never) ?? [])
        state.text += part as unknown as string
      state.isOver = true
    }
    read().catch(() => undefined)
    await expect.poll(() => state.text).toContain('hello')
    return state
  }

  return { act, listen }
}

async function untilOver(stream: { readonly isOver: boolean }): Promise<boolean> {
  await expect.poll(() => stream.isOver, { timeout: 10_000 }).toBe(true)
  return true
}

const TELLS = /event: millrace:sessions\ndata: "([^"]+)"\n\n/g
const usersOf = ({ text }: { readonly text: string }) => Array.from(text.matchAll(TELLS), ([, marks]) => marks)

describe.each([
  ['/events', 'signIn?user=ann', 'signIn?user=bob'],
  ['/sealed-events', 'seal?user=ann', 'seal?user=bob'],
])('the stream at %s', (path, asAnn, asBob) => {
  test.each([false, true])('says first whose it is; opened while it sends: %s', async (isLate) => {
    const { act, listen } = await site({ isLate })
    const [ann, again, bob] = [await act(asAnn), await act(asAnn), await act(asBob)]
    const streams = [await listen(path, ann), await listen(path, again), await listen(path, bob)]
    const users = streams.map((stream) => {
      expect(stream.text).toMatch(/^event: millrace:sessions\n/)
      const [marks = '', ...more] = usersOf(stream)
      expect(more).toEqual([])
      return marks.split('.')[1]
    })
    expect(users[1]).toBe(users[0])
    expect(users[2]).not.toBe(users[0])
    expect(usersOf(await listen(path))).toEqual([])
    expect(usersOf(await listen('/public-events', ann))).toEqual([])
  })
})

describe('a stream of a session on the server', () => {
  test.each(['signOut', 'rotate', 'endAll?user=ann'])('ends by %s, and no other stream does', async (way) => {
    const { act, listen } = await site()
    const [ann, bob] = [await act('signIn?user=ann'), await act('signIn?user=bob')]
    const stream = await listen('/events', ann)
    const others = [await listen('/events', bob), await listen('/events'), await listen('/public-events', ann)]
    await act(way, ann)
    expect(await untilOver(stream)).toBe(true)
    expect(stream.text).toMatch(/retry: \d+\n\n$/)
    await act('signOut', await act('signIn?user=ann'))
    expect(others.map((other) => other.isOver)).toEqual([false, false, false])
  })

  test('ends where the session is ended from another device, whose own stays open', async () => {
    const { act, listen } = await site()
    const [phone, laptop] = [await act('signIn?user=ann'), await act('signIn?user=ann')]
    const [stolen, own] = [await listen('/events', phone), await listen('/events', laptop)]
    await act('endOthers', laptop)
    expect(await untilOver(stolen)).toBe(true)
    expect(own.isOver).toBe(false)
  })

  test('ends where a further session of the user takes its place', async () => {
    const { act, listen } = await site({ sessionsPerUser: 1 })
    const stream = await listen('/events', await act('signIn?user=ann'))
    await act('signIn?user=ann')
    expect(await untilOver(stream)).toBe(true)
  })

  test.each(['the server', 'its own'])(
    'ends when nobody has used the session for long enough by the clock of %s',
    async (whose) => {
      const { act, listen } = await site({ idleSeconds: 1, ...(whose === 'its own' && { clock: tomorrow }) })
      expect(await untilOver(await listen('/events', await act('signIn?user=ann')))).toBe(true)
    },
  )

  test.each([false, true])(
    'ends where the session is opened later than the stream, by what sends: for long %s',
    async (isLong) => {
      const { act, listen } = await site({ isLate: true, isLong })
      const cookie = await act('signIn?user=ann')
      const stream = await listen('/events', cookie)
      await act('signOut', cookie)
      expect(await untilOver(stream)).toBe(true)
    },
  )

  // `scripts/test.ts` says in one line when there is no Redis.
  test.skipIf(findProgram('redis-server') === undefined)('ends on another instance', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const environment = { REDIS_URL: redis.url, SECRET_KEYS: 'a key for the instances of this test' }
    const [one, other] = [await site({ environment }), await site({ environment })]
    // Until the store is connected, nobody can sign in.
    const cookie = await vi.waitFor(() => one.act('signIn?user=ann'), 10_000)
    const stream = await other.listen('/events', cookie)
    await one.act('endAll?user=ann')
    expect(await untilOver(stream)).toBe(true)
  })
})

test.each(['the server', 'its own'])(
  'a stream of a session in a cookie ends when that expires by the clock of %s',
  async (whose) => {
    const { act, listen } = await site(whose === 'its own' ? { clock: tomorrow } : {})
    expect(await untilOver(await listen('/sealed-events', await act('seal')))).toBe(true)
  },
)

const tomorrow = (): number => Date.now() + 86_400_000
