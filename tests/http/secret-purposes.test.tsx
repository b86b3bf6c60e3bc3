/** What an application signs or encrypts is nothing that the runtime has written, by whatever purpose it was done. */
import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ARGUMENTS_FIELD } from '../../src/shared/protocol/action-call.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { argumentsPurpose } from '../../src/server/routes/render/bound-arguments.ts'
import { createSecrets } from '../../src/server/secrets/secrets.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const KEY = 'a-key-for-these-tests-long-enough'
const MODULE = 'actions.server.ts'
const ID = actionId(MODULE, 'remove')
const COOKIE = '__Host-session'

async function purposeApp() {
  const removed: unknown[] = []
  const remove = action({ args: z.tuple([z.string()]), handler: ({ args }) => void removed.push(args) })
  const sessions = defineSession({ schema: z.object({ user: z.string() }) })
  /** Signs a text of its visitor for a purpose of its visitor, as no application should. */
  const sign = ({ request: asked, context }: LoaderArgs<'/sign'>): Response => {
    const { searchParams } = new URL(asked.url)
    return new Response(context.secrets.sign(searchParams.get('purpose') ?? '', searchParams.get('text') ?? ''))
  }
  const encrypt = async ({ context }: LoaderArgs<'/encrypt'>): Promise<Response> =>
    new Response(await context.secrets.encrypt(`cookie ${COOKIE}`, [Date.now(), { user: 'admin' }], 60))
  const user = async ({ context }: LoaderArgs<'/user'>): Promise<Response> =>
    new Response((await sessions.open(context)).data?.user ?? 'nobody')
  const begin = async ({ context }: LoaderArgs<'/begin'>): Promise<Response> => {
    await (await sessions.open(context)).set({ user: 'ann' })
    return new Response()
  }
  const { app } = tinyApp({
    routes: {
      '/': { page: page(() => <p>page</p>) },
      '/sign': { handler: moduleOf({ GET: sign as never }) },
      '/encrypt': { handler: moduleOf({ GET: encrypt as never }) },
      '/user': { handler: moduleOf({ GET: user as never }) },
      '/begin': { handler: moduleOf({ GET: begin as never }) },
    },
    environment: { SECRET_KEYS: KEY },
    actions: { [MODULE]: { remove } },
  })
  const post = (signed: string): request.Test =>
    request(app)
      .post(`/?_action=${ID}.1`)
      .type('form')
      .send({ [`${ARGUMENTS_FIELD}1`]: signed })
  return { app, removed, post }
}

test('bound arguments count as the runtime’s, in a page of an earlier build too, and never as an application’s', async () => {
  const { app, removed, post } = await purposeApp()
  const query = new URLSearchParams({ purpose: argumentsPurpose(ID), text: '["everything"]' })
  const { text } = await request(app).get(`/sign?${query}`).expect(200)
  await post(text).expect(400)
  expect(removed).toEqual([])
  await post(createSecrets([KEY]).sign(argumentsPurpose(ID), '["one"]')).expect(303)
  expect(removed).toEqual([['one']])
})

test('a session counts as the runtime’s, also one of an earlier build, and never as an application’s', async () => {
  const { app } = await purposeApp()
  const userOf = async (cookie: string): Promise<string> => (await request(app).get('/user').set('Cookie', cookie)).text
  const { text } = await request(app).get('/encrypt').expect(200)
  expect(await userOf(`${COOKIE}=${text}`)).toBe('nobody')
  const [line = ''] = (await request(app).get('/begin')).get('Set-Cookie') ?? []
  expect(await userOf(line.split(';')[0] ?? '')).toBe('ann')
  const earlier = await createSecrets([KEY]).encrypt(`cookie ${COOKIE}`, [Date.now(), { user: 'bob' }], 60)
  expect(await userOf(`${COOKIE}=${earlier}`)).toBe('bob')
})
