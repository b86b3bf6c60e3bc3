/** Sessions that nothing opens before the answer begins: how the browser learns for which one it is made. */
import { setTimeout as wait } from 'node:timers/promises'
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs, VisitorArgs } from '../../src/server/api/loader-types.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { slotted } from '../support/kept-shells.tsx'
import { drop, numberOf, statusOf, visit } from '../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const schema = z.object({ user: z.string() })
const KINDS = {
  stored: () => defineStoredSession({ schema, user: ({ user }) => user }),
  'in a cookie': () => defineSession({ schema, user: ({ user }) => user }),
}

/** What an answer says of its sessions, in the order in which the browser learns it. */
const marksOf = ({ text }: { readonly text: string }): readonly (string | undefined)[] =>
  [...text.matchAll(/sessions\\*":\s*\\*"([^"\\]*)/g)].map(([, marks]) => marks)

/** Of a visitor's answer: all marks that name somebody. */
const usersOf = (answer: { readonly text: string }) => marksOf(answer).filter((marks) => !marks?.endsWith(':-'))

function Name({ value }: { readonly value: Promise<string> }) {
  return <u>{use(value)}</u>
}

const slot = ({ data, children }: { data: { visitor: Promise<string> }; children?: ReactNode }) => (
  <>
    <Suspense fallback="wait">
      <Name value={data.visitor} />
    </Suspense>
    {children}
  </>
)

/** A site whose pages open a session only after their answers have begun. */
function siteOf(sessions: ReturnType<(typeof KINDS)[keyof typeof KINDS]>) {
  const ran = { page: 0, layout: 0 }
  const userOf = async ({ context }: Pick<LoaderArgs, 'context'>) => {
    await wait(5)
    return (await sessions.open(context)).data?.user ?? 'nobody'
  }
  const visitor = (args: VisitorArgs) => {
    ran.page += 1
    return userOf(args)
  }
  const layoutVisitor = (args: VisitorArgs) => {
    ran.layout += 1
    return userOf(args)
  }
  const careful = async (args: VisitorArgs) =>
    args.context.cookie('__Host-session') === undefined ? 'nobody' : userOf(args)
  const signIn = async ({ context, search }: LoaderArgs) => {
    await (await sessions.open(context)).set({ user: String(search['user']) })
    return new Response('')
  }
  const site = tinyApp({
    routes: {
      '/kept': { cache: 'shared', page: page(slot as never), loader: moduleOf({ visitor }) },
      '/careful': { cache: 'shared', page: page(slot as never), loader: moduleOf({ visitor: careful }) },
      '/around': { layout: page(slot as never), layoutLoader: moduleOf({ layoutVisitor }) },
      '/around/own': { cache: 'shared', page: page(slot as never), loader: moduleOf({ visitor }) },
      '/around/bare': { cache: 'shared', page: page(() => 'bare'), loader: moduleOf({ loader: () => ({}) }) },
      '/alone': { page: page(slot as never), loader: moduleOf({ visitor }) },
      '/deferred': {
        page: page(slot as never),
        loader: moduleOf({ loader: (args: LoaderArgs) => ({ visitor: userOf(args) }) }),
      },
      '/early': {
        shell: 'early',
        loading: moduleOf({ default: () => 'wait' }),
        page: page(slot as never),
        loader: moduleOf({ loader: () => wait(5, {}), visitor }),
      },
      '/sign-in': { handler: moduleOf({ POST: signIn }) },
    } as never,
  })
  const cookieOf = async (user: string): Promise<string> => {
    const { headers } = await request(site.app).post(`/sign-in?user=${user}`).set('Host', 'mills.example').expect(200)
    return (headers['set-cookie'] as unknown as readonly string[]).map((line) => line.split(';')[0]).join('; ')
  }
  return { site, ran, cookieOf }
}

describe.for(Object.keys(KINDS) as (keyof typeof KINDS)[])('a session %s', (kind) => {
  test.for(['/kept', '/careful', '/around/own', '/around/bare', '/alone', '/deferred', '/early'])(
    'is known to the browser from document and data of %s, with the mark of its user',
    async (path) => {
      const { site, cookieOf } = siteOf(KINDS[kind]())
      const [ann, bob] = [await cookieOf('ann'), await cookieOf('bob')]
      const isKept = !/alone|deferred|early/.test(path)
      const stranger = await visit(site, path).expect(200)
      expect(usersOf(stranger)).toEqual([])
      const seen: (string | undefined)[][] = []
      for (const Cookie of [ann, bob, ann]) {
        for (const of of [path, `/_m/data${path}`]) {
          const answer = await visit(site, of, { Cookie }).expect(200)
          if (isKept) expect(statusOf(answer)).toContain('hit')
          expect(answer.headers['cache-control']).toContain('private')
          const users = usersOf(answer)
          expect(users).toHaveLength(1)
          seen.push([...users])
        }
      }
      expect([seen[1], seen[3], seen[4], seen[5]]).toEqual([seen[0], seen[2], seen[0], seen[0]])
      expect(seen[0]).not.toEqual(seen[2])
      // Nothing of a user is in what is kept.
      expect(usersOf(await visit(site, path).expect(200))).toEqual([])
      if (isKept) expect((await visit(site, path)).text).toBe(stranger.text)
    },
  )
})

test('the first line of a kept page’s data names the session, so that nothing is shown before it is known', async () => {
  const { site, cookieOf } = siteOf(KINDS.stored())
  const Cookie = await cookieOf('ann')
  await visit(site, '/kept')
  const { text } = await visit(site, '/_m/data/kept', { Cookie })
  expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({ sessions: expect.stringMatching(/^session:[\w-]{10}/) })
})

test('a click runs the functions visitor of the segments that it asks for, and names the sessions of all', async () => {
  const { site, ran, cookieOf } = siteOf(KINDS.stored())
  const Cookie = await cookieOf('ann')
  await visit(site, '/around/own', { Cookie })
  for (const [ids, expected] of [
    [['/around/own#page'], { page: 1, layout: 0 }],
    [['/around#layout'], { page: 0, layout: 1 }],
    [[''], { page: 0, layout: 0 }],
    [['/around#layout', '/around/own#page'], { page: 1, layout: 1 }],
  ] as const) {
    Object.assign(ran, { page: 0, layout: 0 })
    const query = ids.map((id) => `_m=${encodeURIComponent(id)}`).join('&')
    const answer = await visit(site, `/_m/data/around/own?${query}`, { Cookie }).expect(200)
    expect(ran).toEqual(expected)
    expect(usersOf(answer)).toHaveLength(1)
    expect(answer.text.match(/"segment":"[^"]*"/g) ?? []).toHaveLength(expected.page + expected.layout)
  }
})

test('a page that is dropped while a session is opened for its data is made again', async () => {
  const gate = { open: Promise.resolve(), asked: () => undefined as void }
  const validate = async (value: unknown) => {
    gate.asked()
    await gate.open
    return { value: value as { user: string } }
  }
  const sessions = defineSession<{ user: string }>({
    schema: { '~standard': { version: 1, vendor: 'test', validate } } as never,
  })
  const { route } = slotted(async ({ context }) => ({ name: (await sessions.open(context)).data?.user ?? 'nobody' }))
  const signIn = async ({ context }: LoaderArgs) => {
    await (await sessions.open(context)).set({ user: 'ann' })
    return new Response('')
  }
  const site = tinyApp({ routes: { '/': route, '/drop': drop, '/in': { handler: moduleOf({ POST: signIn }) } } })
  const { headers } = await request(site.app).post('/in').set('Host', 'mills.example').expect(200)
  const Cookie = String(headers['set-cookie']).split(';')[0] ?? ''
  await visit(site)
  const [opened, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  Object.assign(gate, { open: opened.promise, asked: asked.resolve })
  const answer = visit(site, '/_m/data/', { Cookie }).then((received) => received)
  await asked.promise
  await request(site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
  opened.resolve()
  expect([numberOf(await answer), (await answer).text.includes('ann')]).toEqual(['made 2', true])
})
