/** A form that has started a session, sent again: by Back without JavaScript, or because its answer was lost. */
import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { redirect } from '../../src/shared/control-flow.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const [FIRST, SECOND] = ['4294967295-1234567890-1234567-1111111', '4294967295-1234567890-1234567-2222222']

/** A site whose forms change the session, and whose page shows it. */
function site() {
  const session = defineStoredSession({ schema: z.object({ user: z.string() }), user: ({ user }) => user })
  const runs = { signIn: 0, renew: 0 }
  const signIn = action({
    guarded: false,
    input: z.object({ user: z.string() }),
    async handler({ input, context }) {
      runs.signIn += 1
      await (await session.open(context)).set({ user: input.user })
      redirect('/me')
    },
  })
  const signOut = action({
    guarded: false,
    handler: async ({ context }) => (await session.open(context)).clear(),
  })
  const renew = action({
    guarded: false,
    async handler({ context }) {
      runs.renew += 1
      await (await session.open(context)).rotate()
    },
  })
  const { app } = tinyApp({
    routes: {
      '/': {
        page: page(() => (
          <>
            <form id="in" action={signIn as never}>
              <input name="user" />
            </form>
            <form id="out" action={signOut as never} />
            <form id="new" action={renew as never} />
          </>
        )),
      },
      '/me': {
        loader: moduleOf({
          loader: async ({ context }: LoaderArgs) => ({ user: (await session.open(context)).data?.user ?? 'nobody' }),
        }),
        page: page(({ data }: { readonly data: { readonly user: string } }) => <h1>{data.user}</h1>),
      },
    } as never,
    actions: { [MODULE]: { signIn, signOut, renew } },
  })

  /** Sends a form of a document as it was shown first, with the cookies that a browser has by then. */
  async function openDocument() {
    const { text } = await request(app).get('/')
    return async (id: string, cookie: string, fields = {}) => {
      const [, form = ''] = new RegExp(`<form[^>]*id="${id}"(.*?)</form>`).exec(text) ?? []
      const [, target = ''] = new RegExp(`<form[^>]*id="${id}"[^>]*action="([^"]+)"`).exec(text) ?? []
      const hidden = Array.from(form.matchAll(/type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g))
      const body = new URLSearchParams({
        ...Object.fromEntries(hidden.map(([, name, value = '']) => [name, value])),
        ...fields,
      })
      const answer = await request(app)
        .post(target.replaceAll('&amp;', '&'))
        .set({ 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookie })
        .send(body.toString())
      const [set = ''] = answer.headers['set-cookie'] ?? []
      return { status: answer.status, cookie: set.split(';')[0] ?? '' }
    }
  }
  /** Signs in as the router does. @returns the cookie. */
  async function call(user: string, key: string, cookie = ''): Promise<string> {
    const answer = await request(app)
      .post(`/_m/data/?_action=${actionId(MODULE, 'signIn')}`)
      .set({ 'X-Millrace-Build': 'development', 'X-Millrace-Once': key, Cookie: cookie })
      .send({ input: { user } })
    expect(answer.status).toBe(200)
    return (answer.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? ''
  }
  const userOf = async (cookie: string) =>
    /<h1>(.*?)<\/h1>/.exec((await request(app).get('/me').set('Cookie', cookie)).text)?.[1]
  return { runs, openDocument, call, userOf }
}

test('while the session lasts, it gets the same session, and ran once', async () => {
  const { runs, openDocument, userOf } = site()
  const send = await openDocument()
  const first = await send('in', '', { user: 'ann' })
  expect([first.status, await userOf(first.cookie)]).toEqual([303, 'ann'])
  expect(await send('in', '', { user: 'ann' })).toEqual(first)
  expect(await send('in', first.cookie, { user: 'ann' })).toEqual(first)
  expect(runs.signIn).toBe(1)
})

test('after a sign-out it starts a new session, as often as somebody signs out', async () => {
  const { runs, openDocument, userOf } = site()
  const send = await openDocument()
  const cookies = new Set<string>()
  for (let time = 1; time <= 18; time += 1) {
    const { cookie } = await send('in', '', { user: 'ann' })
    expect([await userOf(cookie), runs.signIn]).toEqual(['ann', time])
    if (time <= 16) expect(await send('in', '', { user: 'ann' })).toMatchObject({ cookie })
    cookies.add(cookie)
    await (
      await openDocument()
    )('out', cookie)
    expect(await userOf(cookie)).toBe('nobody')
  }
  expect(cookies.size).toBe(18)
})

test('so does one that has given a session a new id', async () => {
  const { runs, openDocument, userOf } = site()
  const send = await openDocument()
  const { cookie } = await send('in', '', { user: 'ann' })
  const renewed = await send('new', cookie)
  expect([renewed.cookie === cookie, await userOf(renewed.cookie)]).toEqual([false, 'ann'])
  expect([(await send('new', cookie)).cookie, runs.renew]).toEqual([renewed.cookie, 1])
  await (
    await openDocument()
  )('out', renewed.cookie)
  expect((await send('new', cookie)).cookie).not.toBe(renewed.cookie)
  expect(runs.renew).toBe(2)
})

test('not if the session lasts under another id: then it ran once, and its former cookie is not sent', async () => {
  const { runs, openDocument, userOf } = site()
  const send = await openDocument()
  const { cookie } = await send('in', '', { user: 'ann' })
  const renewed = await send('new', cookie)
  expect(await send('in', '', { user: 'ann' })).toEqual({ status: 303, cookie: '' })
  expect([runs.signIn, await userOf(renewed.cookie)]).toEqual([1, 'ann'])
  await (
    await openDocument()
  )('out', renewed.cookie)
  const again = await send('in', '', { user: 'ann' })
  expect([runs.signIn, await userOf(again.cookie)]).toEqual([2, 'ann'])
})

test('with and without the cookie of the session that is over, it runs once more', async () => {
  const { runs, openDocument } = site()
  const send = await openDocument()
  const { cookie } = await send('in', '', { user: 'ann' })
  await (
    await openDocument()
  )('out', cookie)
  const answers = [await send('in', cookie, { user: 'ann' }), await send('in', '', { user: 'ann' })]
  expect([runs.signIn, answers[0]?.cookie]).toEqual([2, answers[1]?.cookie])
})

test('repeated by the router, it signs in nobody over a session that has begun since', async () => {
  for (const hasArrived of [false, true]) {
    const { runs, call, userOf } = site()
    const ann = await call('ann', FIRST)
    const bob = await call('bob', SECOND, hasArrived ? ann : '')
    expect([await call('ann', FIRST, bob), await call('ann', FIRST, `${bob}; AWSALB=2`)]).toEqual(['', ''])
    expect([await userOf(bob), runs.signIn]).toEqual(['bob', 2])
  }
})

test('repeated by the router, it gets its session where the former one is over, or another one has ended', async () => {
  const { runs, openDocument, call, userOf } = site()
  const former = await call('bob', SECOND)
  const ann = await call('ann', FIRST, former)
  expect([await userOf(former), await call('ann', FIRST, former), await call('ann', FIRST, ann)]).toEqual([
    'nobody',
    ann,
    ann,
  ])
  const other = await call('eve', `${SECOND}1`)
  await (
    await openDocument()
  )('out', other)
  expect([await call('ann', FIRST, other), runs.signIn]).toEqual([ann, 3])
})
