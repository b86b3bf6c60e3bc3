/** Two builds of one site over one `DATA_DIR` and with the same keys, as while a new one is deployed. */
import { submitForm } from 'millrace/testing'
import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import type { Schema } from '../../src/shared/schema.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const OLD = z.object({ user: z.string() })
const NEW = z.object({ user: z.string(), team: z.string() })

interface Build {
  readonly schema: Schema<{ user: string }>
  readonly args: Schema<readonly unknown[]>
  readonly bound: unknown
}

const OLD_BUILD: Build = { schema: OLD, args: z.tuple([z.number()]), bound: 7 }
const NEW_BUILD: Build = { schema: NEW, args: z.tuple([z.string()]), bound: 'seven' }

/** Starts builds of a site. */
async function deployment() {
  const folder = await makeTempDir('two-builds')
  onTestFinished(() => folder.remove())
  const ran: unknown[] = []
  const start = ({ schema, args, bound }: Build) => {
    const user = (data: { user: string }): string => data.user
    const light = defineSession({ name: 'light', schema, user })
    const account = defineStoredSession({ name: 'account', schema, user })
    const remove = action({
      args: args as Schema<[unknown]>,
      input: z.object({}),
      handler: ({ args: given }) => void ran.push(given),
    })
    const begin = async ({ context, request: asked }: LoaderArgs): Promise<Response> => {
      const data = Object.fromEntries(new URL(asked.url).searchParams) as { user: string }
      await (await light.open(context)).set(data)
      await (await account.open(context)).set(data)
      return new Response()
    }
    const end = async ({ context }: LoaderArgs): Promise<Response> => {
      await (await account.open(context)).clear()
      return new Response()
    }
    const see = async ({ context }: LoaderArgs): Promise<Response> => {
      const [one, other] = [await light.open(context), await account.open(context)]
      const devices = (await other.devices()).length
      return Response.json([one.data?.user ?? null, other.data?.user ?? null, devices])
    }
    const { app } = tinyApp({
      routes: {
        '/': { page: page(() => <form action={remove.bind(null, bound) as never} />) },
        '/begin': { handler: moduleOf({ GET: begin as never }) },
        '/end': { handler: moduleOf({ GET: end as never }) },
        '/see': { handler: moduleOf({ GET: see as never }) },
      } as never,
      environment: { DATA_DIR: folder.path, SECRET_KEYS: 'the-key-of-these-two-builds' },
      actions: { 'actions.server.ts': { remove } },
    })
    return app
  }
  return { start, ran }
}

test('a session that one build cannot read is none there, and stays what it is at the other', async () => {
  const { start } = await deployment()
  const [old, fresh] = [start(OLD_BUILD), start(NEW_BUILD)]
  const begun = await request(old).get('/begin?user=ann').expect(200)
  const Cookie = (begun.get('Set-Cookie') ?? []).map((line) => line.split(';')[0]).join('; ')
  const see = (app: typeof old) => request(app).get('/see').set('Cookie', Cookie).expect(200)
  for (const _ of [1, 2]) {
    const unread = await see(fresh)
    expect([unread.body, unread.get('Set-Cookie')]).toEqual([[null, null, 0], undefined])
    expect((await see(old)).body).toEqual(['ann', 'ann', 1])
  }
})

test.for(['/begin?user=ann&team=mill', '/end'])(
  'a stored session that one build cannot read is ended there by %s: nobody has it any more',
  async (path) => {
    const { start } = await deployment()
    const [old, fresh] = [start(OLD_BUILD), start(NEW_BUILD)]
    const begun = await request(old).get('/begin?user=ann').expect(200)
    const Cookie = (begun.get('Set-Cookie') ?? []).map((line) => line.split(';')[0]).join('; ')
    await request(fresh).get(path).set('Cookie', Cookie).expect(200)
    expect((await request(old).get('/see').set('Cookie', Cookie).expect(200)).body).toEqual(['ann', null, 0])
  },
)

test('a session of the new build is read by the old one, which knows less of it', async () => {
  const { start } = await deployment()
  const [old, fresh] = [start(OLD_BUILD), start(NEW_BUILD)]
  const begun = await request(fresh).get('/begin?user=ann&team=mill').expect(200)
  const Cookie = (begun.get('Set-Cookie') ?? []).map((line) => line.split(';')[0]).join('; ')
  for (const app of [old, fresh]) {
    expect((await request(app).get('/see').set('Cookie', Cookie).expect(200)).body).toEqual(['ann', 'ann', 1])
  }
})

test('a form of one build whose arguments the other does not take is refused, and runs nothing', async () => {
  const { start, ran } = await deployment()
  const builds = [start(OLD_BUILD), start(NEW_BUILD)] as const
  for (const [from, to] of [builds, builds.toReversed()] as const) {
    if (from === undefined || to === undefined) continue
    const form = await submitForm((await request(from).get('/').expect(200)).text, 'form', {}, { page: '/' })
    await request(to).post(form.url).set(form.headers).send(form.body).expect(400)
    await request(from).post(form.url).set(form.headers).send(form.body).expect(303)
  }
  expect(ran).toEqual([[7], ['seven']])
})
