/** A site of members whose sessions are kept on the server. */
import request from 'supertest'
import { z } from 'zod'
import { unauthorized } from '../../src/shared/control-flow.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { recordsOf } from './route-data.ts'
import { moduleOf, page, tinyApp } from './tiny-app.tsx'

const MODULE = 'actions.server.ts'
/** After which an idle session is over; the age of all is three of it. Seconds. */
export const HOUR = 3_600
/** Name of the cookie. */
export const COOKIE = '__Host-session'

interface Asked {
  readonly cookie?: string | undefined
  readonly agent?: string
  readonly prefetch?: boolean
  /** Page on which an action is called. */
  readonly on?: string
  /** Key of a call. */
  readonly once?: string
}

/** A site with a page for members that shows their devices, and a page for everybody. */
export async function memberSite(environment: Readonly<Record<string, string>> = {}) {
  const clock = { ms: 1_800_000_000_000 }
  const sessions = defineStoredSession(
    {
      schema: z.object({ user: z.string(), theme: z.string().default('plain') }),
      user: ({ user }) => user,
      idleSeconds: HOUR,
      maxAgeSeconds: 3 * HOUR,
      sessionsPerUser: 3,
      maxDataBytes: 100,
    },
    () => clock.ms,
  )
  const text = z.object({ text: z.string().default('') })
  const actions = {
    signIn: action({
      guarded: false,
      input: text,
      async handler({ input, context }) {
        await (await sessions.open(context)).set({ user: input.text, theme: 'plain' })
      },
    }),
    signOut: action({ handler: async ({ context }) => (await sessions.open(context)).clear() }),
    rotate: action({ handler: async ({ context }) => (await sessions.open(context)).rotate() }),
    endOthers: action({
      handler: async ({ context }) => void (await (await sessions.open(context)).endOthers()),
    }),
    end: action({
      input: text,
      handler: async ({ input, context }) => ({ ended: await (await sessions.open(context)).end(input.text) }),
    }),
    theme: action({
      input: text,
      async handler({ input, context }) {
        const session = await sessions.open(context)
        if (session.data !== undefined) await session.set({ ...session.data, theme: input.text })
      },
    }),
    endAll: action({
      input: text,
      handler: async ({ input, context }) => ({ ended: await sessions.endAll(context, input.text) }),
    }),
  }
  const guard = async ({ context }: LoaderArgs) => {
    const session = await sessions.open(context)
    if (session.data === undefined) unauthorized()
    return { ...session.data, devices: await session.devices() }
  }
  const { app, logs } = tinyApp({
    routes: {
      '/': { unauthorized: page(() => <p>please sign in</p>), error: page(() => <p>failed</p>) },
      '/open': { page: page(() => <p>open</p>), loader: moduleOf({ loader: () => ({ open: true }) }) },
      '/members': {
        layout: page(({ children }: { children: never }) => children),
        layoutLoader: moduleOf({ loader: guard }),
      },
      '/members/home': { page: page(() => <p>members</p>) },
    } as never,
    environment,
    actions: { [MODULE]: actions },
  })

  const ask = (method: 'get' | 'post', path: string, { cookie, agent = 'Tests/1', prefetch, once }: Asked) => {
    const sent = request(app)[method](path).set('User-Agent', agent)
    if (cookie !== undefined) sent.set('Cookie', cookie)
    if (once !== undefined) sent.set('X-Millrace-Once', once)
    if (prefetch === true) sent.set('Purpose', 'prefetch').set('Sec-Purpose', 'prefetch')
    return sent
  }
  const get = (path: string, asked: Asked = {}) => ask('get', path, asked)
  const post = (name: keyof typeof actions, value = '', asked: Asked = {}) =>
    ask('post', `${asked.on ?? '/open'}?_action=${actionId(MODULE, name)}`, asked)
      .type('form')
      .send({ text: value })
  async function received(sent: request.Test) {
    const answer = await sent.buffer(true).parse((res, done) => {
      let text = ''
      res.on('data', (chunk: Buffer) => (text += String(chunk)))
      res.on('end', () => done(null, text))
    })
    return { status: answer.status, headers: answer.headers, records: recordsOf(String(answer.body)) }
  }
  const data = (path: string, asked: Asked = {}) => received(ask('get', `/_m/data${path}`, asked))
  const call = (name: keyof typeof actions, value: string, asked: Asked) =>
    received(
      ask('post', `/_m/data${asked.on ?? '/open'}?_action=${actionId(MODULE, name)}`, asked)
        .set('X-Millrace-Build', 'development')
        .send({ input: { text: value } }),
    )
  /** @returns the cookie of the new session. */
  async function signIn(user: string, asked: Asked = {}): Promise<string> {
    return cookieOf(await post('signIn', user, asked).expect(303)) ?? ''
  }
  const layoutOf = async (asked: Asked) => {
    const { records } = await data('/members/home', asked)
    const found = records.find(({ segment }) => segment === '/members#layout')?.['data']
    return found as { user: string; theme: string; devices: readonly Record<string, unknown>[] } | undefined
  }
  const devices = async (cookie: string) => (await layoutOf({ cookie }))?.devices ?? []
  return { call, clock, folder: app.dataDir, logs, get, post, data, signIn, layoutOf, devices }
}

/** The cookie that an answer sets, as browsers send it. */
export function cookieOf({ headers }: { headers: Record<string, unknown> }): string | undefined {
  const lines = (headers['set-cookie'] as string[] | undefined) ?? []
  return lines.find((line) => line.startsWith(`${COOKIE}=`))?.split(';')[0]
}
