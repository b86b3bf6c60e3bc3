/** Clients that leave while the application works for them, and code that ignores its signal. */
import { Suspense, use } from 'react'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { forbidden, type HandlerArgs, type LoaderArgs } from '../../src/server/index.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const GREEDY = { 'X-Forwarded-For': '198.51.100.7' }
const PLACES = 4
const BODY_LIMIT = 16_777_216

/** A site whose code works until the test ends it, whether anybody waits for it or not. */
async function site(environment: Readonly<Record<string, string>> = {}) {
  const held = Promise.withResolvers<unknown>()
  const visitor = Promise.withResolvers<unknown>()
  const counts = { begun: 0, running: 0, waiting: 0 }
  const work = async (): Promise<object> => {
    counts.begun += 1
    counts.running += 1
    await held.promise
    counts.running -= 1
    return {}
  }
  const schema = { '~standard': { version: 1, vendor: 'test', validate: async () => ({ value: await work() }) } }
  const empty = page(() => <h1>Page</h1>)
  const Late = ({ value }: { readonly value: Promise<unknown> }) => <p>{typeof use(value)}</p>
  const late = page(({ data }: { data: { value: Promise<unknown> } }) => (
    <Suspense fallback="wait">
      <Late value={data.value} />
    </Suspense>
  ))
  const layout = page(({ children }: { children: unknown }) => <main>{children as never}</main>)
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: empty },
      '/loader': { page: empty, loader: moduleOf({ loader: work }) },
      '/guard/page': { page: empty, guard: moduleOf({ guard: () => work() as never }) },
      '/deferred': { page: late, loader: moduleOf({ loader: () => ({ value: work() }) }) },
      '/deep': { page: empty, loader: moduleOf({ loader: () => ({ list: [{ value: work() }] }) }) },
      '/visitor': {
        page: page(({ data }: { data: { visitor: Promise<unknown> } }) => (
          <Suspense fallback="wait">
            <Late value={data.visitor} />
          </Suspense>
        )),
        loader: moduleOf({ loader: () => ({}), visitor: work }) as never,
      },
      '/cached': {
        page: empty,
        loader: moduleOf({
          loader: ({ context }: LoaderArgs) => context.cached(['work', counts.begun], { seconds: 60 }, work),
        }) as never,
      },
      '/schema': {
        page: empty,
        loader: moduleOf({ search: schema, loader: () => ({}) }),
      },
      '/kept/[n]': {
        cache: 'shared',
        page: empty,
        loader: moduleOf({ loader: work }),
        layout,
        layoutLoader: moduleOf({
          loader: async ({ context }: LoaderArgs) => {
            await visitor.promise
            context.cookie('name')
            return {}
          },
        }),
      },
      '/early': {
        page: empty,
        loader: moduleOf({ loader: work }),
        shell: 'early',
        loading: moduleOf({ default: () => <p>Wait</p> }),
      },
      '/refused': { layout, layoutLoader: moduleOf({ loader: () => forbidden() }) as never },
      '/refused/page': { page: empty, loader: moduleOf({ loader: work }) },
      '/handler': {
        handler: moduleOf({
          GET: async () => Response.json(await work()),
          POST: async () => Response.json(await work()),
        }),
      },
      '/generator': {
        handler: moduleOf({
          GET: () => new Response((ReadableStream as never as { from(made: unknown): ReadableStream }).from(pieces())),
        }),
      },
      '/text': {
        handler: moduleOf({
          bodyLimit: BODY_LIMIT,
          POST: async ({ request }: HandlerArgs) => {
            const text = await request.text()
            await work()
            return new Response(String(text.length))
          },
        }),
      },
    } as never,
    actions: { [MODULE]: { work: action({ input: z.unknown(), handler: work }) } },
    environment: { TRUST_PROXY: '127.0.0.1', ...environment },
    middleware: [
      async (req, _res, next) => {
        if (req.get('x-wait') !== undefined) {
          counts.waiting += 1
          await held.promise
          counts.waiting -= 1
        }
        next()
      },
    ],
  })
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('first')
    await work()
  }
  app.readiness.markReady()
  const port = await portOf(app)
  onTestFinished(() => held.resolve({}))
  /** Requests of the log that were cut off. */
  const cutOff = (): number => logs.filter(({ aborted }) => aborted === true).length

  return {
    app,
    counts,
    cutOff,
    port,
    release: () => held.resolve({}),
    readVisitor: () => visitor.resolve({}),
    /** Begins requests, each over a connection of its own. */
    async begin(bytes: string, number: number) {
      const connections = await Promise.all(Array.from({ length: number }, () => connectRaw(port)))
      for (const connection of connections) onTestFinished(() => connection[Symbol.dispose]())
      await Promise.all(connections.map((connection) => connection.send(bytes).catch(() => undefined)))
      return connections
    },
    status: async (path: string) => (await requestRaw(port, getRequest(path, GREEDY))).status,
  }
}

const get = (path: string): string => getRequest(path, GREEDY)
const head = (path: string): string => get(path).replace('GET', 'HEAD')
const post = (path: string, body = 'a=b'): string =>
  get(path)
    .replace('GET', 'POST')
    .replace(
      '\r\n\r\n',
      `\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`,
    ) + body

describe('a client that leaves keeps its place until what it has begun has settled', () => {
  test.for<readonly [what: string, bytes: string]>([
    ['a loader', get('/loader')],
    ['the loader of an early shell', get('/early')],
    ['a loader, for data', get('/_m/data/loader')],
    ['a guard', get('/guard/page')],
    ['a deferred value', get('/deferred')],
    ['a deferred value, for data', get('/_m/data/deferred')],
    ['a deferred value that nobody reads', head('/deferred')],
    ['a deferred value that nobody reads, for data', head('/_m/data/deferred')],
    ['a promise deep in the data', get('/_m/data/deep')],
    ['a function visitor', get('/visitor')],
    ['a read for the cache', get('/cached')],
    ['a schema', get('/schema')],
    ['a loader inside of a layout that has refused', get('/refused/page')],
    ['a loader inside of a layout that has refused, for data', get('/_m/data/refused/page')],
    ['an action', post(`/?_action=${actionId(MODULE, 'work')}.0`)],
    ['an action, for data', post(`/_m/data/?_action=${actionId(MODULE, 'work')}.0`)],
  ])('%s', async ([, bytes]) => {
    const { app, begin, counts, release, status } = await site({ MAX_PENDING_RENDERS: String(PLACES) })
    const left = await begin(bytes, PLACES)
    await expect.poll(() => counts.begun).toBe(PLACES)
    for (const { socket } of left) socket.resetAndDestroy()
    await expect.poll(() => left.every(({ socket }) => socket.closed)).toBe(true)
    await begin(bytes, 2)
    await expect.poll(() => app.admission.waiting).toBe(2)
    expect([counts.begun, app.admission.pending]).toEqual([PLACES, PLACES])
    release()
    await expect.poll(() => [app.admission.pending, app.admission.waiting]).toEqual([0, 0])
    expect(await status('/')).toBe(200)
  })

  test.for<readonly [what: string, bytes: string]>([
    ['a handler', get('/handler')],
    ['a handler that was sent something', post('/handler')],
    ['the next piece of a stream', get('/generator')],
  ])('among readers: %s', async ([, bytes]) => {
    const { begin, counts, cutOff, release, status } = await site({ MAX_OPEN_STREAMS: '8' })
    const share = 4
    const left = await begin(bytes, share)
    await expect.poll(() => counts.begun).toBe(share)
    for (const { socket } of left) socket.resetAndDestroy()
    await expect.poll(cutOff).toBe(share)
    for (const connection of await begin(bytes, 2)) expect((await connection.response()).status).toBe(503)
    expect(counts.begun).toBe(share)
    release()
    await expect.poll(() => status('/handler')).toBe(200)
  })
})

test('a page for all visitors that turns out to be of one keeps its place if that one has left', async () => {
  const { app, begin, counts, cutOff, readVisitor, release } = await site({ MAX_PENDING_RENDERS: String(PLACES) })
  const left = (await Promise.all(Array.from({ length: PLACES }, (_, n) => begin(get(`/kept/${n}`), 1)))).flat()
  await expect.poll(() => counts.begun).toBe(PLACES)
  for (const { socket } of left) socket.resetAndDestroy()
  await expect.poll(cutOff).toBe(PLACES)
  readVisitor()
  await begin(get('/loader'), 2)
  await expect.poll(() => app.admission.waiting).toBe(2)
  expect([counts.begun, app.admission.pending]).toEqual([PLACES, PLACES])
  release()
  await expect.poll(() => [app.admission.pending, app.admission.waiting]).toEqual([0, 0])
})

test('bodies count as long as their handler runs, also of clients that have left', async () => {
  const MOST_OF_ONE = 6 // of 16 MiB each: half of 192
  const { begin, counts, port, release } = await site()
  const bytes = post('/text', 'y'.repeat(BODY_LIMIT)).replace('application/x-www-form-urlencoded', 'text/plain')
  for (let sent = 1; sent <= MOST_OF_ONE; sent += 1) {
    const [left] = await begin(bytes, 1)
    await expect.poll(() => counts.begun).toBe(sent)
    left?.socket.resetAndDestroy()
  }
  expect((await requestRaw(port, bytes)).status).toBe(503)
  expect(counts.begun).toBe(MOST_OF_ONE)
  release()
  await expect.poll(() => counts.running).toBe(0)
  expect((await requestRaw(port, bytes)).text).toBe(String(BODY_LIMIT))
})

test('what never settles is held for the time of a render after its client has left, and no longer', async () => {
  const { app, begin, counts, status } = await site({
    MAX_PENDING_RENDERS: '2',
    MAX_OPEN_STREAMS: '2',
    RENDER_TIMEOUT_MS: '400',
  })
  const left = [...(await begin(get('/loader'), 2)), ...(await begin(get('/handler'), 2))]
  await expect.poll(() => counts.begun).toBe(4)
  for (const { socket } of left) socket.resetAndDestroy()
  await expect.poll(() => app.admission.pending).toBe(0)
  expect(await status('/')).toBe(200)
  await begin(get('/handler'), 1)
  await expect.poll(() => counts.begun).toBe(5)
})

test('nothing of the application begins for a client that has left before', async () => {
  const { begin, counts, cutOff, release, status } = await site()
  const paths = ['/loader', '/_m/data/loader', '/guard/page', '/deferred', '/cached', '/handler']
  const left = (await Promise.all(paths.map((path) => begin(getRequest(path, { 'X-Wait': '1' }), 1)))).flat()
  await expect.poll(() => counts.waiting).toBe(paths.length)
  for (const { socket } of left) socket.resetAndDestroy()
  await expect.poll(cutOff).toBe(paths.length)
  release()
  await expect.poll(() => counts.waiting).toBe(0)
  expect(await status('/')).toBe(200)
  expect(counts.begun).toBe(0)
})
