/** What many requests at once leave of the event loop: libuv accepts one connection a round, whatever runs in it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ReactNode } from 'react'
import { expect, onTestFinished, test } from 'vitest'
import { refuseInput } from '../../src/server/api/refuse-input.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { portOf, withServer } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const CONNECTIONS = 48
const MOST_A_ROUND = 16
const MOST_A_TURN_MS = 40
const LEAST_ROUNDS = 10

/** Notes in which round of the event loop something runs. */
function watchRounds() {
  const state = { round: 0, isOver: false }
  const ranIn: number[] = []
  const go = (): void => {
    state.round += 1
    if (!state.isOver) setImmediate(go)
  }
  go()
  onTestFinished(() => void (state.isOver = true))
  return { ranIn, note: () => void ranIn.push(state.round) }
}

test.for(['handler', 'call', 'form', 'failing form'] as const)(
  'of many requests to a %s, no more run in one round than fit into one batch',
  async (kind) => {
    const { note, ranIn } = watchRounds()
    const save = action({
      handler: () => {
        if (kind !== 'form') note()
        if (kind === 'failing form') throw new Error('not today')
        return refuseInput({ note: 'Taken.' })
      },
    })
    function FormPage(): ReactNode {
      if (kind === 'form') note()
      return <h1>Form</h1>
    }
    const { app } = tinyApp({
      routes: {
        '/form': { page: page(FormPage) },
        '/api': {
          handler: moduleOf({
            GET: () => {
              note()
              return new Response('x')
            },
          }),
        },
      },
      actions: { 'actions.server.ts': { save } },
    })
    app.readiness.markReady()
    const id = actionId('actions.server.ts', 'save')
    const post = (path: string, type: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const form = post(`/form?_action=${id}.0`, 'application/x-www-form-urlencoded', 'note=x')
    const call = post(`/_m/data/form?_action=${id}&_m=`, 'application/json', '{"input":{}}')
    const message = { handler: getRequest('/api'), call, form, 'failing form': form }[kind]
    const status = { handler: 200, call: 422, form: 422, 'failing form': 500 }[kind]

    expect(await askTogether(await portOf(app), message)).toEqual(new Set([status]))
    expect(ranIn).toHaveLength(CONNECTIONS)
    const inOne = Map.groupBy(ranIn, (round) => round)
    expect(Math.max(...[...inOne.values()].map((rounds) => rounds.length))).toBeLessThanOrEqual(MOST_A_ROUND)
  },
)

test.for([
  ['path', getRequest(`/old/${'a/'.repeat(2_000)}b`)],
  ['query', getRequest(`/old/a?${'a=b&'.repeat(1_000)}`)],
  ['cookie', getRequest('/old/a', { Cookie: 'a=b; '.repeat(1_000) })],
] as const)('rules read the heads of no more requests with a long %s in one round', async ([, message]) => {
  const { app } = tinyApp({
    routes: {},
    // Its line of the log is written in the round in which a request is answered.
    rules: { redirects: [{ source: '/old/:path*', destination: '/new', permanent: true }] },
  })
  app.readiness.markReady()
  const counts: number[] = []
  let isOver = false
  const go = (): void => {
    counts.push(app.logs.length)
    if (!isOver) setImmediate(go)
  }
  go()
  onTestFinished(() => void (isOver = true))

  expect(await askTogether(await portOf(app), message)).toEqual(new Set([308]))
  const inOne = counts.map((count, round) => count - (counts[round - 1] ?? 0))
  expect(counts.at(-1)).toBeGreaterThanOrEqual(CONNECTIONS)
  expect(Math.max(...inOne)).toBeLessThanOrEqual(MOST_A_ROUND)
})

test.for([
  ['one connection, pipelined', 1, 60],
  ['many connections', 60, 1],
] as const)(
  'requests on %s that are answered at once do not all have the same round',
  async ([, connections, each]) => {
    const { note, ranIn } = watchRounds()
    const { app } = tinyApp({
      routes: {},
      middleware: [
        (_req, res) => {
          const end = performance.now() + 1
          while (performance.now() < end);
          note()
          res.end('x')
        },
      ],
    })
    app.readiness.markReady()
    expect(await askTogether(await portOf(app), getRequest('/').repeat(each), connections)).toEqual(new Set([200]))
    await expect.poll(() => ranIn.length).toBe(60)
    const inOne = [...Map.groupBy(ranIn, (round) => round).values()].map((rounds) => rounds.length)
    expect(Math.max(...inOne)).toBeLessThanOrEqual(MOST_A_TURN_MS)
    // Newcomers are accepted between them.
    expect((ranIn.at(-1) ?? 0) - (ranIn[0] ?? 0)).toBeGreaterThan(LEAST_ROUNDS)
  },
)

test('requests that have waited run in the context in which a host has received them', async () => {
  const store = new AsyncLocalStorage<string>()
  const { app } = tinyApp({
    routes: {},
    middleware: [
      (req, res) => {
        const end = performance.now() + 4
        while (performance.now() < end);
        res.end(`${String(req.headers['x-name'])} ${String(store.getStore())}`)
      },
    ],
  })
  app.readiness.markReady()
  await withServer(
    (req, res) => store.run(String(req.headers['x-name']), () => app(req, res)),
    async (port) => {
      const names = Array.from({ length: 12 }, (_, at) => `n${at}`)
      const ask = (name: string): string => getRequest('/', { 'X-Name': name })
      const one = await connectRaw(port)
      const others = await Promise.all(names.map(() => connectRaw(port)))
      onTestFinished(() => [one, ...others].forEach(({ socket }) => socket.destroy()))
      one.socket.write(names.map(ask).join(''))
      for (const [at, { socket }] of others.entries()) socket.write(ask(`n${at}`))
      for (const name of names) expect((await one.response()).text).toBe(`${name} ${name}`)
      const answers = await Promise.all(others.map(async (connection) => (await connection.response()).text))
      expect(answers).toEqual(names.map((name) => `${name} ${name}`))
    },
  )
})

/** Sends a message over many connections at once, and returns the statuses of the answers. */
async function askTogether(port: number, message: string, count = CONNECTIONS): Promise<Set<number>> {
  const connections = await Promise.all(Array.from({ length: count }, () => connectRaw(port)))
  onTestFinished(() => {
    for (const { socket } of connections) socket.destroy()
  })
  // The server has accepted them before all ask at once.
  for (const { socket } of connections) socket.write(getRequest('/healthz'))
  await Promise.all(connections.map((connection) => connection.response()))
  for (const { socket } of connections) socket.write(message)
  const answers = await Promise.all(connections.map((connection) => connection.response()))
  return new Set(answers.map((answer) => answer.status))
}
