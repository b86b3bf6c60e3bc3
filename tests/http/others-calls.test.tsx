/** Calls that a page of one user has made, and that arrive with the session of another one. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { recordsOf } from '../support/route-data.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const data = { schema: z.object({ user: z.string() }), user: ({ user }: { user: string }) => user }
const kinds = { stored: defineStoredSession(data), sealed: defineSession(data) }

/** @param kind of the sessions. Its pages are open, and guarded. */
function site(kind: keyof typeof kinds) {
  const sessions = kinds[kind]
  const saved: unknown[] = []
  const loader = async ({ context }: LoaderArgs) => ({ user: (await sessions.open(context)).data?.user ?? 'nobody' })
  const { app, logs } = tinyApp({
    routes: {
      '/': { unauthorized: page(() => <p>please sign in</p>) },
      '/open': { page: page(() => <p>open</p>), loader: moduleOf({ loader }) },
      '/guarded': { page: page(() => <p>guarded</p>), guard: moduleOf({ guard: loader }) },
    } as never,
    actions: {
      [MODULE]: {
        signIn: action({
          guarded: false,
          input: z.object({ text: z.string() }),
          handler: async ({ input, context }) => (await sessions.open(context)).set({ user: input.text }),
        }),
        save: action({
          input: z.object({ text: z.string() }),
          async handler({ input, context }) {
            const { data: found } = await sessions.open(context)
            saved.push([found?.user, input.text])
          },
        }),
      },
    },
  })
  const headOf = async (sent: request.Test) => {
    const { status, text, headers } = await sent.buffer(true)
    const cookies = headers['set-cookie'] as unknown as string[] | undefined
    return { status, head: recordsOf(text)[0], cookie: cookies?.[0]?.split(';')[0] ?? '' }
  }
  const call = (name: 'signIn' | 'save', value: string, { cookie = '', marks = '', on = '/open' } = {}) =>
    headOf(
      request(app)
        .post(`/_m/data${on}?_action=${actionId(MODULE, name)}`)
        .set({ 'X-Millrace-Build': 'development', 'X-Millrace-Sessions': marks, Cookie: cookie })
        .send({ input: { text: value } }),
    )
  async function visitor(user: string) {
    const { cookie } = await call('signIn', user)
    const { head } = await headOf(request(app).get('/_m/data/open').set('Cookie', cookie))
    return { cookie, marks: String(head?.['sessions']) }
  }
  return { call, logs, saved, visitor }
}

describe.each(['stored', 'sealed'] as const)('with sessions that are %s', (kind) => {
  test.each(['/open', '/guarded'])('a call on %s is refused', async (on) => {
    const { call, logs, saved, visitor } = site(kind)
    const [ann, bob] = [await visitor('ann'), await visitor('bob')]
    const { status, head } = await call('save', 'hers', { cookie: bob.cookie, marks: ann.marks, on })
    expect([status, head]).toEqual([401, expect.objectContaining({ sessions: bob.marks, others: true })])
    expect(saved).toEqual([])
    // It is nobody's failure.
    expect(logs.filter(({ level }) => Number(level) >= 40)).toEqual([])
  })

  test('the next session of the user, a guest, and who is signed out may call', async () => {
    const { call, saved, visitor } = site(kind)
    const [ann, bob, again] = [await visitor('ann'), await visitor('bob'), await visitor('ann')]
    const guests = ann.marks.replace(/:.*/, ':-')
    for (const asked of [
      { cookie: again.cookie, marks: ann.marks },
      { cookie: bob.cookie, marks: guests },
      { cookie: bob.cookie, marks: '' },
      // Of another kind of session.
      { cookie: bob.cookie, marks: ann.marks.replace(/^(~?)/, '$1admin') },
      { cookie: '', marks: ann.marks },
    ]) {
      expect((await call('save', 'x', asked)).status).toBe(200)
    }
    expect(saved.map((one) => (one as string[])[0])).toEqual(['ann', 'bob', 'bob', 'bob', undefined])
  })

  test('a page may sign somebody else in by itself', async () => {
    const { call, visitor } = site(kind)
    const ann = await visitor('ann')
    const { status, head } = await call('signIn', 'bob', ann)
    expect([status, head]).toEqual([200, expect.objectContaining({ left: true })])
  })

  test('marks that are none refuse nothing, however long', async () => {
    const { call, saved, visitor } = site(kind)
    const bob = await visitor('bob')
    for (const marks of [':.x', 'session', '.a:b', `${'a:b.c '.repeat(1_000)}`, 'x'.repeat(8_000), '__proto__:a.b']) {
      expect((await call('save', 'x', { cookie: bob.cookie, marks })).status).toBe(200)
    }
    expect(saved).toHaveLength(6)
  })
})
