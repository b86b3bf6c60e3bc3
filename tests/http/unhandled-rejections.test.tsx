/** Promises that code of the application starts and nothing handles: visitors can make them fail, and must not end the process. */
import { use, type ReactNode } from 'react'
import request from 'supertest'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { setTimeout as delay } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { notFound } from '../../src/shared/control-flow.ts'
import type { HandlerArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { guardHost, isOfRequest } from '../../src/server/process/unhandled-rejection.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { moduleOf, page, tinyApp, type TinyApp } from '../support/tiny-app.tsx'

const fatal: unknown[] = []
let app: TinyApp

/** Fails soon, and nobody waits. */
function stray(): void {
  void delay(5).then(() => {
    throw new Error('nobody waits for this')
  })
}

async function failing(): Promise<string> {
  await delay(5)
  throw new Error('nobody waits for this')
}

const save = action({
  handler: () => {
    stray()
  },
})

const middleware: RequestHandler = (req, _res, next) => {
  if (req.path === '/middleware') stray()
  next()
}

function Stray(): ReactNode {
  stray()
  return <p>page</p>
}

function Waiting({ data }: { readonly data: { readonly value: Promise<string> } }): ReactNode {
  return use(data.value)
}

function listen(): void {
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (thrown) => {
    if (!isOfRequest(thrown)) fatal.push(thrown)
  })
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection')
    for (const other of others) process.on('unhandledRejection', other)
  })
}

beforeEach(() => {
  fatal.length = 0
  app = tinyApp({
    middleware: [middleware],
    actions: { 'actions.server.ts': { save } },
    routes: {
      '/': { notFound: page(() => <p>missing</p>), page: page(() => <p>home</p>) },
      '/middleware': { page: page(() => <p>page</p>) },
      '/component': { page: page(Stray) },
      '/loader': {
        page: page(Waiting),
        loader: moduleOf({
          loader: async () => {
            const value = failing()
            await delay(20)
            return { value: value.catch(() => 'caught late'), other: notFound() as unknown }
          },
        }),
      },
      '/guard': {
        page: page(() => <p>page</p>),
        guard: moduleOf({ guard: () => stray() }),
      },
      '/kept/[key]': {
        cache: 'shared',
        page: page(() => <p>page</p>),
        loader: moduleOf({
          loader: ({ cache }: LoaderArgs) => {
            cache({ shared: { seconds: 60 } })
            stray()
            return {}
          },
        }),
      },
      '/after': {
        page: page(() => <p>page</p>),
        loader: moduleOf({ loader: ({ context }: LoaderArgs) => context.after(stray) }),
      },
      '/cached': {
        page: page(() => <p>page</p>),
        loader: moduleOf({
          loader: ({ context }: LoaderArgs) => context.cached(['x'], { seconds: 60 } as never, () => stray() as never),
        }),
      },
      '/form': { page: page(() => <p>form</p>) },
      '/json': {
        handler: moduleOf({
          POST: async ({ request: asked }: HandlerArgs) => {
            const body = asked.json()
            await delay(30)
            void body
            return new Response('no', { status: 401 })
          },
        }),
      },
      '/events': {
        handler: moduleOf({
          GET: ({ signal }: HandlerArgs) => {
            signal.addEventListener('abort', stray)
            return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new TextEncoder().encode('a')) }))
          },
        }),
      },
    } as never,
  })
  app.app.readiness.markReady()
  listen()
})

/** The lines of failures, once there is one. */
async function failures(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  await expect.poll(() => app.logs.filter(({ msg }) => msg === 'uncaught failure').length).toBeGreaterThan(0)
  return app.logs.filter(({ msg }) => msg === 'uncaught failure')
}

describe('a promise that nothing handles, of', () => {
  test.for(['middleware', 'component', 'guard', 'kept/a', 'after', 'cached'])(
    '%s, is a failure of its request',
    async (path) => {
      await request(app.app).get(`/${path}`)
      expect(await failures()).toMatchObject([
        {
          place: 'unawaited',
          err: { message: 'nobody waits for this' },
          digest: expect.stringMatching(/^\w{12}$/) as string,
        },
      ])
      expect(fatal).toEqual([])
    },
  )

  test('a loader that refuses meanwhile, is a failure of its request', async () => {
    const { status } = await request(app.app).get('/loader')
    expect(status).toBe(404)
    expect(fatal).toEqual([])
  })

  test('an action, is a failure of its request', async () => {
    const id = actionId('actions.server.ts', 'save')
    await request(app.app).post(`/form?_action=${id}.0`).type('form').send('a=b').expect(303)
    expect(await failures()).toHaveLength(1)
    expect(fatal).toEqual([])
  })

  test('a handler that reads a body which is not JSON, is a failure of its request', async () => {
    await request(app.app).post('/json').type('json').send('{').expect(401)
    const [line] = await failures()
    expect(line).toMatchObject({ place: 'unawaited', route: '/json' })
    expect(fatal).toEqual([])
  })

  test('a listener of the signal, is a failure of its request', async () => {
    const connection = await connectRaw(await portOf(app.app))
    await connection.send(getRequest('/events'))
    await connection.receive(20)
    connection.socket.destroy()
    expect(await failures()).toMatchObject([{ place: 'unawaited' }])
    expect(fatal).toEqual([])
  })

  test('code outside of requests, ends the process', async () => {
    stray()
    await expect.poll(() => fatal).toMatchObject([{ message: 'nobody waits for this' }])
    expect(app.logs.filter(({ msg }) => msg === 'uncaught failure')).toEqual([])
  })
})

describe('in a host', () => {
  const own = process.listeners('uncaughtException')
  afterEach(() => {
    process.removeAllListeners('uncaughtException')
    for (const one of own) process.on('uncaughtException', one)
  })

  test('a promise of a request does not end the process, and one of the host does as before', async () => {
    process.removeAllListeners('unhandledRejection')
    const raised: unknown[] = []
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (thrown) => raised.push(thrown))
    const unguard = [guardHost(), guardHost()]
    expect(process.listenerCount('unhandledRejection')).toBe(1)
    await request(app.app).get('/component').expect(200)
    expect(await failures()).toMatchObject([{ place: 'unawaited' }])
    expect(raised).toEqual([])
    stray()
    await expect.poll(() => raised).toMatchObject([{ message: 'nobody waits for this' }])
    // A host that listens decides by itself.
    const heard: unknown[] = []
    process.on('unhandledRejection', (thrown) => heard.push(thrown))
    stray()
    await expect.poll(() => heard).toHaveLength(1)
    expect(raised).toHaveLength(1)
    for (const end of unguard) end()
    expect(process.listenerCount('unhandledRejection')).toBe(1)
  })
})
