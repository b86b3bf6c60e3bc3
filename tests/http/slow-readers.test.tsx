/** Readers that take nothing of large answers: what they hold, and who is served meanwhile. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Suspense, use } from 'react'
import { expect, onTestFinished, test } from 'vitest'
import { portOf } from '../support/listening.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

/** Above what the system takes of an answer that nobody reads. */
const LARGE = 'x'.repeat(12_000_000)
const PLACES = 4

async function site() {
  const late = { made: Promise.withResolvers<string>() }
  function Late({ text }: { readonly text: Promise<string> }) {
    return <p>{use(text)}</p>
  }
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: page(() => <h1>Home</h1>) },
      '/large': { page: page(() => <p>{LARGE}</p>) },
      '/streamed': {
        loader: moduleOf({ loader: () => ({ text: late.made.promise }) }),
        page: page(({ data }: { readonly data: { readonly text: Promise<string> } }) => (
          <main>
            <Suspense fallback="...">
              <Late text={data.text} />
            </Suspense>
          </main>
        )),
      },
      '/data': { loader: moduleOf({ loader: () => ({ LARGE }) }), page: page(() => <h1>Data</h1>) },
      '/file': { handler: moduleOf({ GET: () => new Response(LARGE, { headers: { 'Content-Type': 'text/plain' } }) }) },
    } as never,
    environment: { TRUST_PROXY: '127.0.0.1', MAX_PENDING_RENDERS: String(PLACES) },
  })
  app.readiness.markReady()
  const port = await portOf(app)
  const sockets: Socket[] = []
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  return {
    app,
    logs,
    late,
    status: async (path: string) =>
      (await requestRaw(port, getRequest(path, { 'X-Forwarded-For': '203.0.113.9' }))).status,
    read: (path: string, headers: Readonly<Record<string, string>>) =>
      requestRaw(port, getRequest(path, { 'X-Forwarded-For': '198.51.100.1', ...headers })),
    /** Asks for something and reads nothing of it. @param client its last byte. */
    async ignore(path: string, client: number, headers: Readonly<Record<string, string>> = {}) {
      const socket = connect(port, '127.0.0.1')
      const state = { reset: false, socket }
      socket.on('error', () => void (state.reset = true))
      await once(socket, 'connect')
      sockets.push(socket)
      socket.write(getRequest(path, { 'X-Forwarded-For': `198.51.100.${client}`, ...headers }))
      await once(socket, 'readable')
      return state
    },
  }
}

test.for(['/large', '/_m/data/data'])('readers of %s who take nothing hold no place of rendering', async (path) => {
  const { app, ignore, status } = await site()
  for (let client = 0; client < PLACES * 2; client += 1) await ignore(path, client)
  expect([await status('/'), await status('/_m/data/'), await status('/readyz')]).toEqual([200, 200, 200])
  expect(app.admission.pending).toBe(0)
})

test.for([{}, { 'Accept-Encoding': 'gzip' }] as const)(
  'nor do those of a streamed page, from when it is rendered: %j',
  async (headers) => {
    const { app, ignore, late, status } = await site()
    for (let client = 0; client < PLACES; client += 1) await ignore('/streamed', client, headers)
    expect(app.admission.pending).toBe(PLACES)
    late.made.resolve(Array.from({ length: 200_000 }, () => Math.random().toString(36)).join(' '))
    // Some megabytes are compressed first.
    await expect.poll(() => app.admission.pending, { timeout: 30_000 }).toBe(0)
    expect([await status('/'), await status('/readyz')]).toEqual([200, 200])
  },
)

test.for(['/large', '/file'])('of %s, a client who takes nothing has its longest waiting ones cut', async (path) => {
  const { ignore, logs, status } = await site()
  const readers: { readonly reset: boolean; readonly socket: Socket }[] = []
  for (let at = 0; at < 8; at += 1) readers.push(await ignore(path, 1))
  const honest = await ignore(path, 2)
  // Three answers of 12 MB are more than half of what may wait, and two more than a quarter.
  for (const { socket } of [...readers, honest]) socket.resume()
  await expect.poll(() => readers.map(({ reset }) => reset).indexOf(false)).toBeGreaterThan(3)
  expect([readers.at(-1)?.reset, honest.reset, await status('/')]).toEqual([false, false, 200])
  expect(logs.filter(({ refused }) => refused === 'too many bytes wait for slow readers').length).toBeGreaterThan(3)
})

test.for(['zstd', 'br', 'gzip'])('but none whose readers are faster than the compressor: %s', async (encoding) => {
  const { logs, read } = await site()
  // Eight of 12 MB are more than all that may wait.
  const answers = await Promise.all(Array.from({ length: 8 }, () => read('/file', { 'Accept-Encoding': encoding })))
  // What waits for the compressor counts there: the last ones are sent without compression.
  const encodings = answers.map(({ headers }) => headers.find(([name]) => name === 'Content-Encoding')?.[1])
  expect(encodings.slice(0, 5)).toEqual(encodings.slice(0, 5).map(() => encoding))
  expect(answers.map(({ status, complete }) => [status, complete])).toEqual(answers.map(() => [200, true]))
  expect(logs.filter(({ refused }) => refused !== undefined)).toEqual([])
})
