/**
 * Instances of one site whose lists of keys differ, in the order in which keys are changed. Each step is asked by a
 * visitor who was there before it.
 */
import { submitForm } from 'millrace/testing'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { recordsOf } from '../support/route-data.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const OLD = 'the-old-key-of-these-tests'
const NEW = 'the-new-key-of-these-tests'
/** As the handbook has it: first behind the old one everywhere, then in front, then alone. */
const STEPS = [OLD, `${OLD},${NEW}`, `${NEW},${OLD}`] as const
const MODULE = 'actions.server.ts'

/** Instances over one `DATA_DIR`, one for each list of keys. */
async function instances() {
  const folder = await makeTempDir('key-rotation')
  const schema = z.object({ user: z.string() })
  const user = (data: { user: string }): string => data.user
  const inCookie = defineSession({ name: 'light', schema, user })
  const stored = defineStoredSession({ name: 'account', schema, user })
  const removed: unknown[] = []
  const remove = action({ args: z.tuple([z.string()]), handler: ({ args }) => void removed.push(args) })
  const begin = async ({ context, request: asked }: LoaderArgs): Promise<Response> => {
    const data = { user: new URL(asked.url).searchParams.get('user') ?? 'ann' }
    await (await inCookie.open(context)).set(data)
    await (await inCookie.open(context)).flash(`Hello ${data.user}`)
    await (await stored.open(context)).set(data)
    return new Response(context.secrets.sign('reset a password', data.user))
  }
  const end = async ({ context }: LoaderArgs): Promise<Response> => {
    ;(await inCookie.open(context)).clear()
    await (await stored.open(context)).clear()
    return new Response()
  }
  const loader = async ({ context, request: asked }: LoaderArgs) => ({
    light: (await inCookie.open(context)).data?.user ?? '',
    account: (await stored.open(context)).data?.user ?? '',
    flash: (await inCookie.open(context)).takeFlash() ?? '',
    reset: context.secrets.verify('reset a password', new URL(asked.url).searchParams.get('token') ?? '') ?? '',
  })
  const Remove = remove.bind(null, 'one')
  const start = (keys: string) => {
    const { app } = tinyApp({
      routes: {
        '/': { page: page(() => <form action={Remove as never} />), loader: moduleOf({ loader }) },
        '/begin': { handler: moduleOf({ GET: begin as never }) },
        '/end': { handler: moduleOf({ GET: end as never }) },
      } as never,
      environment: { DATA_DIR: folder.path, SECRET_KEYS: keys },
      actions: { [MODULE]: { remove } },
    })
    return app
  }
  onTestFinished(() => folder.remove())
  return { start, removed }
}

type App = Awaited<ReturnType<typeof instances>>['start'] extends (keys: string) => infer Result ? Result : never

/** A browser that reads route data. */
function browser() {
  const jar = new Map<string, string>()
  async function send(app: App, path: string) {
    const answer = await request(app)
      .get(path)
      .set('Cookie', [...jar].map((pair) => pair.join('=')).join('; '))
      .buffer(true)
      .parse((res, done) => {
        let text = ''
        res.on('data', (chunk: Buffer) => (text += String(chunk)))
        res.on('end', () => done(null, text))
      })
    for (const line of answer.get('Set-Cookie') ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return { status: answer.status, text: String(answer.body) }
  }
  return {
    jar,
    send,
    async look(app: App, token = '') {
      const { status, text } = await send(app, `/_m/data/?token=${token}`)
      const records = recordsOf(text)
      const found = records.find(({ segment }) => segment === '/#page')?.['data'] as Record<string, unknown>
      return { status, data: found, sessions: String(records[0]?.['sessions']) }
    },
  }
}

/** Marks of a user, by the name of the session. */
function usersOf(sessions: string): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    [...sessions.matchAll(/([\w-]+):[\w+-]+\.([\w.-]+)/g)].map(([, name = '', marks = '']) => [name, marks.split('.')]),
  )
}

describe('while keys are changed', () => {
  test.each(STEPS.flatMap((from) => STEPS.map((to) => [from, to] as const)))(
    'what an instance with %s has made is read by one with %s, if that knows its key',
    async (from, to) => {
      const { start, removed } = await instances()
      const visitor = browser()
      const [first, second] = [start(from), start(to)]
      const token = (await visitor.send(first, '/begin')).text
      const { status, data } = await visitor.look(second, token)
      const isKnown = to.includes(from.split(',')[0] ?? '')
      expect(status).toBe(200)
      expect(data['account']).toBe('ann')
      expect(data['light']).toBe(isKnown ? 'ann' : '')
      expect(data['reset']).toBe(isKnown ? 'ann' : '')
      expect(data['flash']).toBe(isKnown ? 'Hello ann' : '')
      const form = await submitForm((await request(first).get('/')).text, 'form', {}, { page: '/' })
      const posted = await request(second).post(form.url).set(form.headers).send(form.body)
      expect(posted.status).toBe(isKnown ? 303 : 400)
      expect(removed).toEqual(isKnown ? [['one']] : [])
    },
  )

  test('a session is the same one for its browser at each instance, and nothing that it holds is dropped', async () => {
    const { start } = await instances()
    const visitor = browser()
    const apps = STEPS.map((keys) => start(keys))
    await visitor.send(apps[0] as App, '/begin')
    const seen = [...apps, ...apps].map((app) => async () => (await visitor.look(app)).sessions)
    const marks: string[] = []
    for (const look of seen) marks.push(await look())
    expect(new Set(marks)).toHaveLength(1)
    expect(Object.keys(usersOf(marks[0] ?? ''))).toEqual(['account', 'light'])
  })

  test('a user who signs in again elsewhere is known as the same, and another user is not', async () => {
    const { start } = await instances()
    const visitor = browser()
    const apps = STEPS.map((keys) => start(keys))
    let former: ReturnType<typeof usersOf> | undefined
    for (const app of [...apps, ...apps.toReversed()]) {
      await visitor.send(app, '/begin?user=bob')
      const bob = usersOf((await visitor.look(app)).sessions)
      await visitor.send(app, '/begin?user=ann')
      const ann = usersOf((await visitor.look(app)).sessions)
      await visitor.send(app, '/end')
      for (const name of ['account', 'light']) {
        const marks = ann[name] ?? []
        expect(marks.some((mark) => (former ?? ann)[name]?.includes(mark))).toBe(true)
        expect(marks.filter((mark) => bob[name]?.includes(mark))).toEqual([])
      }
      former = ann
    }
  })
})
