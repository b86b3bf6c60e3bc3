/**
 * Stands in for the error service: takes envelopes as its ingestion does, keeps what came, and answers by a script. With
 * `close` it is gone and refuses connections; `open` brings it back on the same port.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import zlib from 'node:zlib'
import { parseEnvelope, type Envelope } from '../../src/server/reports/intake/envelope.ts'

/** What the sink says to one request. */
interface SinkAnswer {
  /** 200 unless told. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The answer waits for it. */
  readonly after?: Promise<unknown>
  /** Breaks the connection off instead of answering. */
  readonly reset?: boolean
}

/** The answer to each request: the same for all, or by what has come. `number` counts requests, from 0. */
type SinkScript = SinkAnswer | ((request: SinkRequest, number: number) => SinkAnswer)

/** One request. */
export interface SinkRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Inflated, if it was compressed. */
  readonly body: Buffer
  /** `undefined` where the body is no envelope. */
  readonly envelope: Envelope | undefined
  /** Of the envelope's header. */
  readonly eventId: string | undefined
  /** What it was told. */
  readonly status: number
}

/** A running sink. */
export interface ReportSink extends AsyncDisposable {
  /** Of the one project it has. */
  readonly dsn: string
  readonly port: number
  /** All that came, in the order of arrival. */
  readonly requests: readonly SinkRequest[]
  /** What a service would show: envelopes that were answered by 2xx, those with an event id once. */
  readonly accepted: () => readonly SinkRequest[]
  /** Changes the script, from the next request on. */
  answer(script: SinkScript): void
  /** Resolves as soon as the condition holds; looked at after each request. */
  until(condition: (sink: ReportSink) => boolean): Promise<void>
  /** Stops listening and breaks open connections off. */
  close(): Promise<void>
  /** Listens again. */
  open(): Promise<void>
}

const INFLATE: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
}

/** Starts a sink on a free port of the loopback. It answers 200 to all. */
export async function startReportSink(): Promise<ReportSink> {
  const requests: SinkRequest[] = []
  const waiting = new Set<() => void>()
  const state: { script: SinkScript; arrived: number } = { script: {}, arrived: 0 }
  const server = createServer((req, res) => void take(req, res))
  const listen = (port: number): Promise<void> => new Promise((done) => server.listen(port, '127.0.0.1', done))
  await listen(0)
  const { port } = server.address() as AddressInfo

  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const number = state.arrived
    state.arrived += 1
    const body = await bodyOf(req)
    const envelope = envelopeOf(body)
    const eventId = envelope?.header['event_id']
    const { method = '', url = '', headers } = req
    const arrived = { method, url, headers, body, envelope, eventId: typeof eventId === 'string' ? eventId : undefined }
    const given = state.script
    const answer = typeof given === 'function' ? given({ ...arrived, status: 0 }, number) : given
    await answer.after
    const status = answer.reset === true ? 0 : (answer.status ?? 200)
    requests.push({ ...arrived, status })
    if (answer.reset === true) req.socket.resetAndDestroy()
    else {
      res.writeHead(status, { 'content-type': 'application/json', ...answer.headers })
      res.end(JSON.stringify(arrived.eventId === undefined ? {} : { id: arrived.eventId }))
    }
    for (const look of waiting) look()
  }

  async function close(): Promise<void> {
    if (!server.listening) return
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }

  const sink: ReportSink = {
    dsn: `http://public@127.0.0.1:${port}/42`,
    port,
    requests,
    accepted: () => {
      const seen = new Set<string>()
      return requests.filter(({ status, eventId }) => {
        if (status < 200 || status >= 300 || (eventId !== undefined && seen.has(eventId))) return false
        if (eventId !== undefined) seen.add(eventId)
        return true
      })
    },
    answer: (script) => void (state.script = script),
    until: (condition) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          try {
            if (!condition(sink)) return
            resolve()
          } catch (error) {
            reject(error as Error)
          }
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
    close,
    open: () => listen(port),
    [Symbol.asyncDispose]: close,
  }
  return sink
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of req) chunks.push(chunk as Buffer)
  } catch {
    // Cut off: what has come is what there is.
  }
  const body = Buffer.concat(chunks)
  return INFLATE[req.headers['content-encoding'] ?? '']?.(body) ?? body
}

function envelopeOf(body: Buffer): Envelope | undefined {
  try {
    return parseEnvelope(body)
  } catch {
    return undefined
  }
}
