/** A body may take minutes: a session that ends meanwhile is none for what its body asks for. */
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { unauthorized } from '../../src/shared/control-flow.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { portOf } from '../support/listening.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const body = z.object({ amount: z.coerce.number() })

/** A site whose members send amounts: to a handler, and to an action. */
async function site() {
  const sessions = defineStoredSession({ schema: z.object({ user: z.string() }), user: ({ user }) => user })
  const received: (string | undefined)[] = []
  const take = async ({ context }: Pick<LoaderArgs, 'context'>): Promise<void> => {
    const { data } = await sessions.open(context)
    received.push(data?.user)
  }
  const guard = async ({ context }: LoaderArgs): Promise<void> => {
    const user = await context.once('user', async () => (await sessions.open(context)).data?.user)
    if (user === undefined) unauthorized()
    guarded.resolve()
  }
  let guarded = Promise.withResolvers<void>()
  const { app } = tinyApp({
    routes: {
      '/': fallbacks('root'),
      '/sign-in': {
        handler: moduleOf({
          async POST({ context }: LoaderArgs) {
            await (await sessions.open(context)).set({ user: 'ann' })
            return new Response('in')
          },
        }),
      },
      '/members': { guard: moduleOf({ guard }) },
      '/members/page': { page: page(() => <p>members</p>) },
      '/members/handler': {
        handler: moduleOf({ body, POST: async (args: LoaderArgs) => (await take(args), new Response('taken')) }),
      },
      '/sign-out': {
        handler: moduleOf({
          POST: async ({ context }: LoaderArgs) => (await sessions.endAll(context, 'ann'), new Response('out')),
        }),
      },
    } as never,
    actions: { [MODULE]: { send: action({ input: body, handler: take }) } },
  })
  const port = await portOf(app)
  const post = (path: string, cookie = '') =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { cookie } })

  /** Sends a part of a body, and the rest when `meanwhile` is over. */
  async function send(path: string, cookie: string, meanwhile: () => Promise<unknown>): Promise<number | undefined> {
    guarded = Promise.withResolvers()
    const headers = { cookie, 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': 8 }
    const sending = request({ port, method: 'POST', path, headers })
    sending.write('amou')
    await guarded.promise
    await meanwhile()
    sending.end('nt=7')
    const [answer] = await once(sending, 'response')
    await text(answer)
    return (answer as { readonly statusCode?: number }).statusCode
  }

  async function signIn(): Promise<string> {
    const answer = await post('/sign-in')
    return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  }
  return { send, signIn, received, signOut: () => post('/sign-out') }
}

test.each([
  ['a handler', '/members/handler', 200],
  ['an action', `/members/page?_action=${actionId(MODULE, 'send')}`, 303],
])('the body of %s takes its time, and the session ends: its guard is asked again', async (_what, path, status) => {
  const { send, signIn, signOut, received } = await site()
  const cookie = await signIn()
  expect(await send(path, cookie, () => Promise.resolve())).toBe(status)
  expect(await send(path, cookie, signIn)).toBe(status)
  expect(received).toEqual(['ann', 'ann'])
  expect(await send(path, cookie, signOut)).toBe(401)
  expect(received).toHaveLength(2)
})
