/**
 * What the relay has answered with 200 arrives at the service, each event once, whatever the service does and whichever
 * process is killed at which moment. Over HTTP, with the built server.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { requestRaw } from '../support/raw-http.ts'
import { startReportSink, type ReportSink } from '../support/report-sink.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { newEventId, postRequest } from './report-setup.ts'

vi.setConfig({ testTimeout: 120_000 }) // for hangs only: each test starts several processes

const CLIENTS = 4
const DELIVERED_FIRST = 5 // so that the process is in the middle of a delivery
const IN_FLIGHT = 16 // envelopes that may be under way when a process dies

interface Scene {
  readonly sink: ReportSink
  /** Event ids that were answered with 200, in this order. */
  readonly accepted: string[]
  start(env?: Readonly<Record<string, string>>, nodeArgs?: readonly string[]): Promise<BuiltServer>
  /** Has four clients report without a break until so many more are accepted, then goes on until `stop` has ended. */
  report(server: BuiltServer, count: number, stop: () => unknown): Promise<void>
  /** Everything that was accepted has come, once each and in order; `kills` bounds what may have been sent again. */
  expectAllOnce(kills: number): Promise<void>
}

async function scene(): Promise<Scene> {
  const sink = await startReportSink()
  const folder = await makeTempDir('killed')
  onTestFinished(async () => {
    await sink.close()
    await folder.remove()
  })
  const accepted: string[] = []
  const senders = new Map<string, number>()
  const fixed = { SENTRY_DSN: sink.dsn, REPORT_TUNNEL_PATH: '/tunnel', LOG_LEVEL: 'warn', TRUST_PROXY: '127.0.0.0/8' }

  async function send(port: number, client: number): Promise<void> {
    const id = newEventId()
    senders.set(id, client)
    const body = serializeEnvelope({
      header: { event_id: id, dsn: sink.dsn },
      items: [{ type: 'event', header: { type: 'event' }, payload: Buffer.from(`{"event_id":"${id}"}`) }],
    })
    const headers = { 'X-Forwarded-For': `192.0.2.${client}` }
    const { status } = await requestRaw(port, postRequest('/tunnel', body, headers))
    if (status !== 200) throw new Error(`The relay has answered ${status}`)
    accepted.push(id)
  }

  return {
    sink,
    accepted,
    async start(env, nodeArgs = []) {
      const server = await serverOfTest({ dataDir: folder.path, env: { ...fixed, ...env }, nodeArgs })
      return server
    },
    async report({ port }, count, stop) {
      const enough = accepted.length + count
      const state = { stopping: false, stopped: false }
      const ended = Promise.withResolvers<void>()
      const one = async (client: number): Promise<void> => {
        while (!state.stopped) {
          // Connections of a process that is killed break, or are never answered. Before that, none may.
          const sent = await Promise.race([send(port, client).catch((thrown: unknown) => thrown), ended.promise])
          if (sent !== undefined && !state.stopping) throw sent
          if (accepted.length < enough || state.stopping) continue
          state.stopping = true
          await stop()
          state.stopped = true
          ended.resolve()
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, (_, client) => one(client)))
    },
    async expectAllOnce(kills) {
      await sink.until(({ accepted: all }) => {
        const delivered = new Set(all().map(({ eventId }) => eventId))
        return accepted.every((id) => delivered.has(id))
      })
      // A service counts an event once by its id; nothing may rely on that but what was under way at a kill.
      const ids = sink.requests.filter(({ status }) => status === 200).map(({ eventId }) => eventId)
      expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(kills * IN_FLIGHT)
      const known = new Set(accepted)
      const shown = sink.accepted().map(({ eventId = '' }) => eventId)
      for (let client = 0; client < CLIENTS; client += 1) {
        const isOwn = (id: string): boolean => known.has(id) && senders.get(id) === client
        expect(shown.filter(isOwn)).toEqual(accepted.filter(isOwn))
      }
    },
  }
}

/** Children of a process. Source: proc(5). */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/** What the service does until the kill. */
const SERVICES: readonly (readonly [string, (sink: ReportSink, killed: Promise<void>) => Promise<void> | void])[] = [
  ['up', () => undefined],
  ['slow', (sink, killed) => sink.answer((_, number) => (number < DELIVERED_FIRST ? {} : { after: killed }))],
  [
    'limiting',
    (sink) => {
      const limited = { status: 429, headers: { 'Retry-After': '60', 'X-Sentry-Rate-Limits': '60:error:key' } }
      sink.answer((_, number) => (number < DELIVERED_FIRST ? {} : limited))
    },
  ],
  ['failing', (sink) => sink.answer((_, number) => (number < DELIVERED_FIRST ? {} : { status: 502 }))],
  ['resetting', (sink) => sink.answer((_, number) => (number < DELIVERED_FIRST ? {} : { reset: true }))],
  ['down', (sink) => sink.close()],
]

describe.for(SERVICES)('while the service is %s', ([name, behave]) => {
  test('a server that is killed has lost nothing', async () => {
    const { sink, accepted, start, report, expectAllOnce } = await scene()
    const killed = Promise.withResolvers<void>()
    await behave(sink, killed.promise)
    const server = await start()
    await report(server, 60, async () => {
      if (name !== 'down') await sink.until(({ requests }) => name === 'slow' || requests.length > DELIVERED_FIRST)
      server.kill('SIGKILL')
      await server.exited
    })
    sink.answer({})
    killed.resolve()
    if (name === 'down') await sink.open()
    if (name !== 'up') expect(sink.accepted().length).toBeLessThan(accepted.length)
    const next = await start()
    await expectAllOnce(1)
    await next.stop()
  })
})

describe.skipIf(!existsSync('/proc/self/task'))('with WORKERS=2', () => {
  test('nothing is lost when all processes are killed at once', async () => {
    const { sink, start, report, expectAllOnce } = await scene()
    const held = Promise.withResolvers<void>()
    sink.answer((_, number) => (number < DELIVERED_FIRST ? {} : { after: held.promise }))
    const server = await start({ WORKERS: '2' })
    await report(server, 60, async () => {
      const workers = await childrenOf(server.pid)
      expect(workers).toHaveLength(2)
      for (const pid of [server.pid, ...workers]) process.kill(pid, 'SIGKILL')
      await server.exited
    })
    held.resolve()
    sink.answer({})
    const next = await start({ WORKERS: '2' })
    await expectAllOnce(1)
    await next.stop()
  })

  test('nothing is lost when the workers are killed one after the other: the next one goes on delivering', async () => {
    const { sink, start, report, expectAllOnce } = await scene()
    const server = await start({ WORKERS: '2' })
    const first = await childrenOf(server.pid)
    expect(first).toHaveLength(2)
    for (const pid of first) {
      const held = Promise.withResolvers<void>()
      const before = sink.requests.length
      sink.answer((_, number) => (number < before + DELIVERED_FIRST ? {} : { after: held.promise }))
      await report(server, 40, () => process.kill(pid, 'SIGKILL'))
      sink.answer({})
      held.resolve()
      // Whichever of the two has delivered, its successor does.
      await expectAllOnce(2)
      await vi.waitFor(async () => expect(await childrenOf(server.pid)).toHaveLength(2), 30_000)
    }
    await server.stop()
  })
})

describe('what nobody has caught', () => {
  test.for([
    ['an exception', 'setImmediate(() => { throw new Error("out of nowhere") })'],
    ['a rejection', 'Promise.reject(new Error("out of nowhere"))'],
  ] as const)('%s ends the process, and is reported by the next one if the service is down', async ([, fail]) => {
    const { sink, start } = await scene()
    await sink.close()
    const code = encodeURIComponent(`process.on('SIGUSR2', () => { ${fail} })`)
    const server = await start({}, ['--import', `data:text/javascript,${code}`])
    server.kill('SIGUSR2')
    expect(await server.exited).toMatchObject({ code: 1 })
    await sink.open()
    const next = await start()
    await sink.until(({ requests }) => requests.length > 0)
    await next.stop()
    const events = sink.requests.flatMap(({ envelope }) => envelope?.items ?? []).map(({ payload }) => String(payload))
    expect(events.map((event) => JSON.parse(event) as unknown)).toMatchObject([
      { level: 'fatal', platform: 'node', exception: { values: [{ type: 'Error', value: 'out of nowhere' }] } },
    ])
  })
})
