import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { requestRaw } from '../support/raw-http.ts'
import { startReportSink, type ReportSink } from '../support/report-sink.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { newEventId, postRequest, startReportServer } from './report-setup.ts'

const CLIENTS = 5 // of accepting-child.ts
const PATIENCE_MS = 90_000 // for hangs only: several processes are started one after another
const IN_FLIGHT = 16 // envelopes that may be under way when a process dies

const idsOf = (requests: readonly { readonly eventId: string | undefined }[]): string[] =>
  requests.map(({ eventId }) => eventId ?? '')

async function sinkAndFolder(): Promise<{ readonly sink: ReportSink; readonly dataDir: string }> {
  const sink = await startReportSink()
  const folder = await makeTempDir('delivery')
  onTestFinished(async () => {
    await sink.close()
    await folder.remove()
  })
  return { sink, dataDir: folder.path }
}

/** Answers nothing any more, and waits until an envelope is under way. */
function holdOne(sink: ReportSink): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  sink.answer(() => {
    resolve()
    return { after: new Promise(() => undefined) }
  })
  return promise
}

/** Every id once, and nothing sent a second time but what was under way at one of the kills. */
function expectOnce(sink: ReportSink, accepted: readonly string[], kills: number): void {
  const delivered = idsOf(sink.accepted())
  expect(accepted.filter((id) => !delivered.includes(id))).toEqual([])
  expect(new Set(delivered).size).toBe(delivered.length)
  expect(sink.requests.length - delivered.length).toBeLessThanOrEqual(kills * IN_FLIGHT)
}

describe('a process that is killed in the middle of accepting', () => {
  interface Child {
    readonly process: ChildProcess
    /** What it has said to have accepted. */
    readonly accepted: string[]
    /** Settles once it has said so of that many. */
    reached(count: number): Promise<void>
    readonly ended: Promise<unknown>
    kill(): Promise<void>
  }

  function startChild(dataDir: string, dsn: string, prefix: string, count: number): Child {
    const file = join(import.meta.dirname, 'accepting-child.ts')
    const child = spawn(process.execPath, [file, dataDir, dsn, prefix, String(count)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const accepted: string[] = []
    const lines = createInterface({ input: child.stdout })
    const ended = once(child, 'close')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await ended
    })
    lines.on('line', (line) => {
      // The last line of a killed process may be half a line.
      if (line.length === 32) accepted.push(line)
    })
    return {
      process: child,
      accepted,
      ended,
      reached: (wanted) =>
        new Promise((resolve) => {
          lines.on('line', () => accepted.length >= wanted && resolve())
        }),
      async kill() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }

  it(
    'has lost nothing that it had accepted; the next one delivers it, each once, in each client’s order',
    { timeout: PATIENCE_MS },
    async () => {
      const { sink, dataDir } = await sinkAndFolder()
      const accepted: string[] = []
      for (const [prefix, most] of [
        ['a0', 40],
        ['a1', 300],
      ] as const) {
        const child = startChild(dataDir, sink.dsn, prefix, 20_000)
        await child.reached(most)
        await holdOne(sink)
        await child.kill()
        sink.answer({})
        accepted.push(...child.accepted)
      }
      expect(sink.accepted().length).toBeLessThan(accepted.length)
      await startChild(dataDir, sink.dsn, 'a2', 0).ended
      expectOnce(sink, accepted, 2)
      const delivered = idsOf(sink.accepted())
      for (let client = 0; client < CLIENTS; client += 1) {
        const own = delivered.filter((id) => Number(id.slice(2)) % CLIENTS === client)
        expect(own).toEqual(own.toSorted())
      }
    },
  )

  it('as a server, has answered 200 to nothing that does not arrive', { timeout: PATIENCE_MS }, async () => {
    const { sink, dataDir } = await sinkAndFolder()
    const start = (): Promise<BuiltServer> =>
      startBuiltServer({ dataDir, env: { SENTRY_DSN: sink.dsn, REPORT_TUNNEL_PATH: '/tunnel', LOG_LEVEL: 'warn' } })
    const accepted: string[] = []

    async function reportUntilKilled(server: BuiltServer, killAfter: number): Promise<void> {
      let answered = 0
      const one = async (): Promise<void> => {
        for (;;) {
          const id = newEventId()
          const payload = Buffer.from(JSON.stringify({ event_id: id, message: 'x'.repeat(2_000) }))
          const body = serializeEnvelope({
            header: { event_id: id, dsn: sink.dsn },
            items: [{ type: 'event', header: { type: 'event' }, payload }],
          })
          try {
            const { status } = await requestRaw(server.port, postRequest('/tunnel', body))
            if (status !== 200) throw new Error(`The relay has answered ${status}`)
          } catch (thrown) {
            if (answered < killAfter) throw thrown
            return
          }
          accepted.push(id)
          answered += 1
          if (answered === killAfter) server.kill('SIGKILL')
        }
      }
      await Promise.all([one(), one(), one(), one()])
      await server.exited
    }

    await reportUntilKilled(await start(), 50)
    await sink.close()
    await reportUntilKilled(await start(), 30)
    await sink.open()
    const last = await start()
    await sink.until(({ accepted: all }) => {
      const delivered = new Set(idsOf(all()))
      return accepted.every((id) => delivered.has(id))
    })
    await last.stop()
    expectOnce(sink, accepted, 2)
  })
})

describe('the relay', () => {
  it('answers at once while the service takes its time', async () => {
    const { sink, report } = await startReportServer()
    const slow = Promise.withResolvers<void>()
    sink.answer({ after: slow.promise })
    for (let at = 0; at < 3; at += 1) expect((await report()).status).toBe(200)
    expect(sink.requests).toEqual([])
    slow.resolve()
    await sink.until(({ requests }) => requests.length === 3)
    expect(sink.accepted()).toHaveLength(3)
  })

  it('keeps what comes while the service is down, and delivers it in order and once when it is back', async () => {
    const { sink, post, envelope } = await startReportServer()
    await sink.close()
    const ids = Array.from({ length: 10 }, newEventId)
    for (const id of ids) expect((await post(envelope(undefined, { event_id: id }))).status).toBe(200)
    await sink.open()
    await sink.until(({ accepted }) => accepted().length === ids.length)
    expect(idsOf(sink.requests)).toEqual(ids)
  })

  it('keeps what the service does not take for now, and lets other categories pass', async () => {
    const { sink, post, envelope } = await startReportServer()
    sink.answer(({ envelope: came }, number) =>
      came?.items[0]?.type === 'session' && number === 0
        ? { status: 429, headers: { 'X-Sentry-Rate-Limits': '1:session:key', 'Retry-After': '1' } }
        : {},
    )
    const [session, event] = [newEventId(), newEventId()]
    await post(envelope([['session', { sid: '1' }]], { event_id: session }))
    await sink.until(({ requests }) => requests.length === 1)
    await post(envelope(undefined, { event_id: event }))
    await sink.until(({ accepted }) => accepted().length === 2)
    expect(sink.requests.map(({ eventId, status }) => [eventId, status])).toEqual([
      [session, 429],
      [event, 200],
      [session, 200],
    ])
  })

  it('does not send again what the service has refused', async () => {
    const { sink, post, envelope, logs } = await startReportServer()
    sink.answer((_, number) => (number === 0 ? { status: 400 } : {}))
    const [refused, next] = [newEventId(), newEventId()]
    await post(envelope(undefined, { event_id: refused }))
    await post(envelope(undefined, { event_id: next }))
    await sink.until(({ requests }) => requests.length === 2)
    expect(idsOf(sink.requests)).toEqual([refused, next])
    const lines = logs.filter(({ eventId }) => eventId === refused)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ status: 400, categories: { error: 1 } })
  })
})
