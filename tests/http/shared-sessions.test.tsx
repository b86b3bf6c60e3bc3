/** Answers that their authors declare public, and that look for a session: what caches may give to whom. */
import { join } from 'node:path'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { HandlerArgs, LoaderArgs, LoaderContext } from '../../src/server/api/loader-types.ts'
import { sendFile } from '../../src/server/api/send-file.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const schema = z.object({ user: z.string() })
const KINDS = {
  stored: () => defineStoredSession({ schema, user: ({ user }) => user }),
  'in a cookie': () => defineSession({ schema, user: ({ user }) => user }),
}
type Sessions = ReturnType<(typeof KINDS)[keyof typeof KINDS]>
type Kind = keyof typeof KINDS

const PUBLIC = { 'Cache-Control': 'public, max-age=60' }
const bytes = (text: string) => new TextEncoder().encode(text)

/** A stream of a handler's answer, whose text `make` finds out in its `start` or `pull`. */
function streamed(at: 'start' | 'pull', make: (write: (text: string) => void) => Promise<void>, headers = PUBLIC) {
  const work = async (to: ReadableStreamDefaultController) => {
    await make((text) => to.enqueue(bytes(text)))
    to.close()
  }
  return new Response(new ReadableStream({ [at]: work }), { headers })
}

function siteOf(sessions: Sessions) {
  let hasBegun: () => boolean = () => false
  const begun = async () => {
    while (!hasBegun()) await new Promise(setImmediate)
  }
  const userOf = async (context: LoaderContext) => (await sessions.open(context)).data?.user ?? 'nobody'
  const later = async (context: LoaderContext) => {
    await begun()
    return userOf(context)
  }
  /** After the head of route data, while the document still waits. */
  const soon = async (context: LoaderContext) => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    return userOf(context)
  }
  const declare = ({ context, search }: LoaderArgs) => {
    context.headers.set('Cache-Control', 'own' in search ? 'private, max-age=60' : 'public, max-age=60')
  }
  const handler = (GET: (args: HandlerArgs) => unknown) => ({ handler: moduleOf({ GET }) })
  const site = tinyApp({
    middleware: [
      (_req, res, next) => {
        hasBegun = () => res.headersSent
        next()
      },
    ],
    routes: {
      '/start': handler(({ context }) => streamed('start', async (write) => write(await userOf(context)))),
      '/pull': handler(({ context }) => streamed('pull', async (write) => write(await userOf(context)))),
      '/unawaited': handler(({ context }) => {
        const user = userOf(context)
        return streamed('pull', async (write) => write(await user))
      }),
      '/file': handler(({ context }) => {
        void sessions.open(context)
        const file = sendFile('package.json', { root: join(import.meta.dirname, '../..') })
        file.headers.set('Cache-Control', PUBLIC['Cache-Control'])
        return file
      }),
      '/late': handler(({ context }) => streamed('start', async (write) => write(await later(context)))),
      '/caught': handler(({ context }) =>
        streamed('pull', async (write) => write(await later(context).catch(() => 'caught'))),
      ),
      '/signs-in': handler(async ({ context }) => {
        const session = await sessions.open(context)
        return streamed('start', async (write) => {
          await begun()
          await session.set({ user: 'eve' })
          write('eve')
        })
      }),
      '/failing': handler(
        async ({ context }) => new Response(await userOf(context).catch(() => 'nobody'), { headers: PUBLIC }),
      ),
      '/private': handler(({ context }) =>
        streamed('start', async (write) => write(await later(context)), { 'Cache-Control': 'private, max-age=60' }),
      ),
      '/after': handler(({ context }) => {
        context.after(() => userOf(context))
        return new Response('done', { headers: PUBLIC })
      }),
      '/page': {
        page: page(({ data }: { data: { user: string } }) => <p>{data.user}</p>),
        loader: moduleOf({
          loader: async (args: LoaderArgs) => {
            declare(args)
            return { user: await userOf(args.context) }
          },
        }),
      },
      '/deep': {
        page: page(() => <p>deep</p>),
        loader: moduleOf({
          loader: (args: LoaderArgs) => {
            declare(args)
            return { deep: { user: soon(args.context) } }
          },
        }),
      },
      '/floating': {
        page: page(() => <p>floating</p>),
        loader: moduleOf({
          loader: (args: LoaderArgs) => {
            declare(args)
            void sessions.open(args.context)
            return {}
          },
        }),
      },
      '/in': {
        handler: moduleOf({
          POST: async ({ context }: LoaderArgs) => {
            await (await sessions.open(context)).set({ user: 'ann' })
            return new Response('')
          },
        }),
      },
    } as never,
  })
  const signIn = async () => {
    const { headers } = await request(site.app).post('/in').set('Host', 'mills.example').expect(200)
    return (headers['set-cookie'] as unknown as readonly string[]).map((line) => line.split(';')[0]).join('; ')
  }
  const ask = (path: string, headers: object = {}, method: 'get' | 'head' = 'get') => {
    const client = request(site.app)
    return client[method](path).set({ Host: 'mills.example', ...headers })
  }
  const complaints = () =>
    site.logs.filter(({ err }) => (err as Error | undefined)?.message.includes('A session was used after'))
  return { ask, signIn, complaints }
}

describe.for(Object.keys(KINDS) as Kind[])('with a session %s', (kind) => {
  test.for(['/start', '/pull', '/unawaited', '/file', '/page', '/_m/data/page', '/page?own', '/_m/data/page?own'])(
    '%s waits for it: a member’s answer is private, and caches keep a stranger’s from members',
    async (path) => {
      const { ask, signIn, complaints } = siteOf(KINDS[kind]())
      const Cookie = await signIn()
      const ofAnn = await ask(path, { Cookie }).expect(200)
      const isOwn = path.endsWith('own')
      if (!isOwn) expect(ofAnn.headers['cache-control']).toMatch(/^private, no-/)
      if (path !== '/file') expect(ofAnn.text).toContain('ann')
      if (path.includes('page')) expect(ofAnn.text).toMatch(/"sessions":"[^"]/)
      const stranger = await ask(path).expect(200)
      const { 'cache-control': caching, vary, etag } = stranger.headers
      expect(caching).toBe(`${isOwn ? 'private' : 'public'}, max-age=60`)
      expect(vary).toMatch(/(?:^|, )Cookie(?:,|$)/)
      expect(stranger.text.includes('"sessions"')).toBe(isOwn)
      const heads = [await ask(path, {}, 'head').expect(200)]
      if (etag !== undefined) heads.push(await ask(path, { 'If-None-Match': etag }).expect(304))
      for (const { headers } of heads) {
        expect(headers).toMatchObject({
          'cache-control': caching,
          vary: expect.stringMatching(/(?:^|, )Cookie(?:,|$)/),
        })
      }
      expect(complaints()).toEqual([])
    },
  )

  test.for(['/late', '/caught', '/signs-in'])(
    '%s begins one after a public head: the connection is cut, and the failure reported',
    async (path) => {
      const { ask, signIn, complaints } = siteOf(KINDS[kind]())
      const visitors = path === '/signs-in' ? [{}] : [{}, { Cookie: await signIn() }]
      for (const [index, headers] of visitors.entries()) {
        await expect(ask(path, headers)).rejects.toThrow(/aborted|hang up|ECONNRESET/)
        await expect.poll(() => complaints().length).toBe(index + 1)
      }
    },
  )

  test('a late one of a private answer, or of work after the answer, is let be', async () => {
    const { ask, signIn, complaints } = siteOf(KINDS[kind]())
    const Cookie = await signIn()
    expect((await ask('/private', { Cookie }).expect(200)).text).toBe('ann')
    expect((await ask('/after', { Cookie }).expect(200)).text).toBe('done')
    expect(complaints()).toEqual([])
  })

  test('a member’s data is private where it is deep in a loader’s result, or the loader has not waited', async () => {
    const { ask, signIn, complaints } = siteOf(KINDS[kind]())
    const Cookie = await signIn()
    for (const path of ['/deep', '/_m/data/deep', '/floating', '/_m/data/floating']) {
      for (const method of ['get', 'head'] as const) {
        const { headers } = await ask(path, { Cookie }, method).expect(200)
        expect([path, method, headers['cache-control']]).toEqual([path, method, expect.stringContaining('private')])
      }
    }
    expect(complaints()).toEqual([])
  })
})

test('an answer is private if its session could not be read', async () => {
  const store = { fails: false }
  const readable = schema.refine(() => {
    if (store.fails) throw new Error('cannot be read')
    return true
  })
  const { ask, signIn } = siteOf(defineSession({ schema: readable }))
  const Cookie = await signIn()
  store.fails = true
  const { headers, text } = await ask('/failing', { Cookie }).expect(200)
  expect([text, headers['cache-control']]).toEqual(['nobody', expect.stringContaining('private')])
})
