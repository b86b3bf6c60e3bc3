import { setTimeout } from 'node:timers/promises'
import { submitForm } from 'millrace/testing'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { action } from '../../src/server/routes/actions/action.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const shown = page(({ data }: { data: { shown: unknown } }) => <p id="shown">{String(data.shown)}</p>)
const shownIn = ({ text }: { text: string }): string | undefined => /<p id="shown">([^<]*)</.exec(text)?.[1]

/** A page that shows a number, made by `read` and kept as `mills`. */
function counted() {
  const state = { made: 0 }
  const loader = async ({ context }: LoaderArgs) => ({
    shown: await context.cached('count', { seconds: 60, tags: ['mills'] }, () => (state.made += 1)),
  })
  return { state, route: { page: shown, loader: moduleOf({ loader }) } }
}

describe('what loaders keep for all', () => {
  test('is made once for all pages and visitors, documents and data', async () => {
    const { state, route } = counted()
    const { app } = tinyApp({ routes: { '/': route, '/other': route } })
    for (const path of ['/', '/', '/other']) expect(shownIn(await request(app).get(path).expect(200))).toBe('1')
    expect((await request(app).get('/_m/data/other').expect(200)).text).toContain('1')
    expect(state.made).toBe(1)
    expect(app.caches.data).toMatchObject({ hits: 3, misses: 1, made: 1, entries: 1 })
  })

  test('may be late: the shell does not wait, and the next has it at once', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          page: page(() => <p>shell</p>),
          loader: moduleOf({
            loader: ({ context }: LoaderArgs) => ({
              late: context.cached('late', { seconds: 60 }, () => [new Date(5)]),
            }),
          }),
        },
      },
    })
    for (const _ of [1, 2]) expect((await request(app).get('/').expect(200)).text).toContain('Date')
    expect(app.caches.data).toMatchObject({ made: 1, hits: 1 })
  })

  test('goes on being made for those who wait when the one who began it has left', async () => {
    const value = Promise.withResolvers<string>()
    const state = { begun: Promise.withResolvers<void>(), waiting: 0, gone: Promise.withResolvers<void>() }
    const loader = async ({ context, signal }: LoaderArgs) => {
      signal.addEventListener('abort', () => state.gone.resolve())
      state.waiting += 1
      return {
        shown: await context.cached('k', { seconds: 60 }, () => {
          state.begun.resolve()
          return value.promise
        }),
      }
    }
    const { app } = tinyApp({ routes: { '/': { page: shown, loader: moduleOf({ loader }) } } })
    const port = await portOf(app)
    const leaving = await connectRaw(port)
    await leaving.send(getRequest('/'))
    await state.begun.promise
    const waiting = request(`http://127.0.0.1:${port}`).get('/').expect(200).then(shownIn)
    await expect.poll(() => state.waiting).toBe(2)
    leaving.socket.resetAndDestroy()
    await state.gone.promise
    value.resolve('made')
    expect(await waiting).toBe('made')
    expect(app.caches.data).toMatchObject({ made: 1, failed: 0 })
  })
})

describe('what belongs to one visitor', () => {
  test.for<readonly [string, (args: LoaderArgs) => unknown]>([
    ['context.cookie()', ({ context }) => context.cookie('session')],
    ['request', ({ request: asked }) => asked.headers.get('cookie')],
    ['context.address', ({ context }) => context.address],
    ['context.locals', ({ context }) => context.locals],
    ['context.headers', ({ context }) => context.headers.get('set-cookie')],
  ])('cannot be had while a value for all is made: %s', async ([what, look]) => {
    const loader = async (args: LoaderArgs) => ({
      shown: await args.context.cached('k', { seconds: 60 }, async () => {
        await Promise.resolve()
        return look(args)
      }),
    })
    const { app, logs } = tinyApp({
      routes: { '/': { ...fallbacks('root'), page: shown, loader: moduleOf({ loader }) } },
    })
    await request(app).get('/').set('Cookie', 'session=ann').expect(500)
    const { err } = logs.find(({ msg }) => msg === 'uncaught failure') as { err: { message: string } }
    expect(err.message).toContain(`${what} was used inside of cached("k")`)
    expect(app.caches.data?.entries).toBe(0)
  })

  test.for<readonly [string, (asked: Request) => unknown]>([
    ['a header', (asked) => asked.headers.get('cookie')],
    ['whether there is a header', (asked) => asked.headers.has('cookie')],
    ['all headers', ({ headers }) => [...headers]],
    ['names of headers', ({ headers }) => [...headers.keys()]],
    ['each header', ({ headers }) => headers.forEach(() => undefined)],
    ['the URL', ({ url }) => url],
    ['a copy', (asked) => asked.clone().url],
    ['the body', (asked) => asked.body],
    ['the text', (asked) => asked.text()],
  ])('nor of a request that the arguments have given out before: %s', async ([, look]) => {
    const { app, logs } = tinyApp({
      routes: {
        '/': {
          handler: moduleOf({
            POST: async ({ request: asked, context }: LoaderArgs) => {
              asked.headers.get('accept')
              return Response.json(await context.cached('k', { seconds: 60 }, async () => String(await look(asked))))
            },
          }),
        },
      } as never,
    })
    await request(app).post('/').set('Cookie', 'session=ann').send('secret').expect(500)
    expect(JSON.stringify(logs)).toContain('request was used inside of cached(')
    expect(app.caches.data?.entries).toBe(0)
  })

  test.for(['while a value is made', 'after a value has been made'])(
    'can be had in a queue that a value for all has begun: %s',
    async (when) => {
      const jobs: (() => unknown)[] = []
      let isOpen = false
      /** One job after the other. It runs them where it was opened. */
      const queued = async <Value,>(job: () => Value | Promise<Value>): Promise<Value> => {
        const { promise, resolve } = Promise.withResolvers<Value>()
        jobs.push(() => resolve(job()))
        if (!isOpen) void drain()
        return promise
      }
      async function drain(): Promise<void> {
        isOpen = true
        for (;;) {
          await jobs.shift()?.()
          await setTimeout(5)
        }
      }
      const held = Promise.withResolvers<string>()
      const { app } = tinyApp({
        routes: {
          '/shared': {
            handler: moduleOf({
              GET: ({ context }: LoaderArgs) =>
                context.cached('k', { seconds: 60 }, () => queued(() => held.promise)).then(Response.json),
            }),
          },
          '/own': {
            handler: moduleOf({
              GET: ({ request: asked, context }: LoaderArgs) =>
                queued(() => [
                  asked.headers.get('cookie'),
                  context.cookie('session'),
                  new URL(asked.url).pathname,
                ]).then((own) => Response.json(own)),
            }),
          },
        } as never,
      })
      const shared = request(app)
        .get('/shared')
        .expect(200)
        .then(() => undefined)
      await expect.poll(() => isOpen).toBe(true)
      if (when.startsWith('after')) {
        held.resolve('made')
        await shared
      }
      const own = request(app)
        .get('/own')
        .set('Cookie', 'session=ann')
        .expect(200, ['session=ann', 'ann', '/own'])
        .then(() => undefined)
      await setTimeout(50)
      held.resolve('made')
      await Promise.all([own, shared])
    },
  )

  test('may be used before, as part of the key', async () => {
    const loader = async ({ context }: LoaderArgs) => {
      const user = context.cookie('user') ?? ''
      return { shown: await context.cached(['user', user], { seconds: 60 }, () => `page of ${user}`) }
    }
    const { app } = tinyApp({ routes: { '/': { page: shown, loader: moduleOf({ loader }) } } })
    for (const user of ['ann', 'bob', 'ann']) {
      expect(shownIn(await request(app).get('/').set('Cookie', `user=${user}`))).toBe(`page of ${user}`)
    }
  })
})

describe('what is dropped', () => {
  async function withAction(targets: readonly string[]) {
    const { state, route } = counted()
    const save = action({ handler: ({ revalidate }) => revalidate(...targets) })
    const { app } = tinyApp({
      routes: {
        '/': {
          page: page(() => (
            <form id="save" action={save as never}>
              <button>save</button>
            </form>
          )),
        },
        '/mills/[id]': route,
        '/hook': {
          handler: moduleOf({
            POST: async ({ context }: LoaderArgs) => {
              await context.revalidate(...targets)
              return new Response('dropped')
            },
          }),
        },
      },
      actions: { 'actions.server.ts': { save } },
    })
    return { app, state }
  }

  test.for([
    ['a tag', ['mills'], '2'],
    ['another tag', ['docs'], '1'],
    ['the path', ['/mills/1'], '2'],
    ['the path of a neighbour', ['/mills/2'], '1'],
    ['all paths below', ['/mills/*'], '2'],
  ] as const)('by an action that names %s is shown by the next page', async ([, targets, expected]) => {
    const { app } = await withAction(targets)
    expect(shownIn(await request(app).get('/mills/1'))).toBe('1')
    const form = await submitForm((await request(app).get('/')).text, '#save', {})
    await request(app).post(form.url).set(form.headers).send(form.body).expect(303)
    expect(shownIn(await request(app).get('/mills/1'))).toBe(expected)
  })

  test('by a handler, as a content system calls it', async () => {
    const { app } = await withAction(['mills'])
    expect(shownIn(await request(app).get('/mills/1'))).toBe('1')
    await request(app).post('/hook').expect(200)
    expect(shownIn(await request(app).get('/mills/1'))).toBe('2')
  })
})

test('who keeps nothing pays nothing: no cache is made, whatever is asked for', async () => {
  const { app } = tinyApp({
    routes: { '/': { page: shown, loader: moduleOf({ loader: () => ({ shown: 'plain' }) }) } },
  })
  for (const path of ['/', '/_m/data/', '/nope']) await request(app).get(path)
  expect(app.caches.data).toBeUndefined()
})
