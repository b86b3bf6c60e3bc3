/**
 * A built server that hostile requests are replayed against. After each test it is held against the same oracles:
 * the same process goes on, healthy and undisturbed; nothing it answered leaks or leads away; what was refused has not
 * run; nothing but what configuration names was reached; the next ordinary request gets the ordinary answer.
 */
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { openGuestbook, type Guestbook } from '../../src/app/lab/guestbook/guestbook.server.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { startBuiltServer, type BuiltServer, type BuiltServerOptions } from './built-server.ts'
import { connectRaw, getRequest, requestRaw, type ReadOptions, type SendOptions } from './raw-http.ts'
import type { RawConnection } from './raw-http.ts'
import type { RawResponse } from './raw-response.ts'
import { faultsOf } from './replay-oracles.ts'

const PROBE = resolve(import.meta.dirname, 'server-probe.ts')
const HEALTH_LIMIT_MS = 10_000 // a hang check

/** Secrets that every replay's server has in its environment. */
export const SECRETS = ['canary-key-5f0c9e1d7a', 'canary-variable-8b2e'] as const

/** Id of the action that signs the guestbook: the one whose effect is counted. */
export const SIGN = actionId('lab/guestbook/actions.server.ts', 'sign')

/** A body that signs the guestbook. */
export const SIGNATURE = 'name=Ann&message=hello'

/** Extra lines of a request, beyond `Host` and what its body needs. */
export type HeaderLines = Readonly<Record<string, string>>

/** What a process held when it was asked. */
interface ProcessFacts {
  /** Bytes, after garbage collection. */
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
  readonly rss: number
  /** Sockets, timers and the like, by Node's name for them. */
  readonly resources: Readonly<Record<string, number>>
}

/** A server under replay. Everything read through it is judged when the test ends. */
export interface ReplayServer {
  readonly server: BuiltServer
  /** A port of this machine that nothing may ever connect to. */
  readonly strangerPort: number
  connect(): Promise<RawConnection>
  /** One request on a connection of its own, as it stands. */
  send(bytes: string | Uint8Array, options?: SendOptions & ReadOptions): Promise<RawResponse>
  get(target: string, headers?: HeaderLines, host?: string): Promise<RawResponse>
  post(target: string, body: string | Uint8Array, headers?: HeaderLines, host?: string): Promise<RawResponse>
  /** Signs the guestbook as a form without script would, unless told otherwise. */
  sign(headers?: HeaderLines, body?: string, path?: string): Promise<RawResponse>
  /** Says that this test changes the guestbook so many times. */
  expectChanges(count: number): void
  /** Says that this test asks for a status of 500 or above. */
  permit(...statuses: number[]): void
  /** What the process holds now. */
  probe(): Promise<ProcessFacts>
}

/** Starts a server for a file of replays, and registers the oracles behind each of its tests. */
export function replayServer(options: BuiltServerOptions = {}): ReplayServer {
  let server: BuiltServer
  let guestbook: Guestbook
  let stranger: Server
  let ordinary: readonly string[]
  let before = 0
  let changes = 0
  let strangers = 0
  const permitted: number[] = []
  const answers: RawResponse[] = []

  beforeAll(async () => {
    stranger = createServer((socket) => {
      strangers += 1
      socket.destroy()
    })
    await new Promise<void>((listening) => stranger.listen(0, '127.0.0.1', listening))
    const env = { SECRET_KEYS: `${SECRETS[0]}-padding`, APPLICATION_TOKEN: SECRETS[1], ...options.env }
    const nodeArgs = ['--expose-gc', '--import', PROBE, ...(options.nodeArgs ?? [])]
    server = await startBuiltServer({ ...options, env, nodeArgs })
    guestbook = openGuestbook(server.dataDir)
    before = guestbook.revision()
    ordinary = await ordinaryAnswers(server.port, options.env?.['ORIGIN'])
  })

  afterEach(async () => {
    const faults = answers.splice(0).flatMap((answer) => faultsOf(answer, { secrets: SECRETS, permitted }))
    permitted.length = 0
    // Taken before anything is expected, so that one test's fault is not the next one's.
    const changed = guestbook.revision() - before
    const [expectedChanges, visits] = [changes, strangers]
    before += changed
    changes = 0
    strangers = 0
    expect(faults).toEqual([])
    const startedAt = performance.now()
    const health = await requestRaw(server.port, getRequest('/healthz'))
    expect([health.status, health.text]).toEqual([200, 'ok\n'])
    expect(performance.now() - startedAt).toBeLessThan(HEALTH_LIMIT_MS)
    expect(server.stderr()).toBe('')
    expect(changed).toBe(expectedChanges)
    expect(visits).toBe(0)
    expect(await ordinaryAnswers(server.port, options.env?.['ORIGIN'])).toEqual(ordinary)
  })

  afterAll(async () => {
    guestbook?.dispose()
    await new Promise((closed) => stranger.close(closed))
    // 0: it has been the same process all along, and nothing was left unfinished.
    await server?.stop()
    // These pages fail on purpose.
    const failures = server.logs().filter(({ level, route }) => Number(level) >= 50 && !failsOnPurpose(route))
    expect(failures).toEqual([])
    const other = server.stdout.filter((line) => !line.startsWith('{') && !line.startsWith('Millrace is listening'))
    expect(other).toEqual([])
    // A failure's stack may stand there, for those who run the server; a secret may not.
    expect(SECRETS.filter((secret) => server.stdout.join('\n').includes(secret))).toEqual([])
  })

  const keep = (answer: RawResponse): RawResponse => {
    answers.push(answer)
    return answer
  }
  const send: ReplayServer['send'] = async (bytes, how) => keep(await requestRaw(server.port, bytes, how))

  return {
    get server() {
      return server
    },
    get strangerPort() {
      return (stranger.address() as AddressInfo).port
    },
    async connect() {
      const connection = await connectRaw(server.port)
      return { ...connection, response: async (how) => keep(await connection.response(how)) }
    },
    send,
    get: (target, headers, host) => send(getRequest(target, headers, host)),
    post: (target, body, headers, host) => send(postRequest(target, body, headers, host)),
    sign: (headers, body = SIGNATURE, path = '/lab/guestbook') =>
      send(postRequest(`${path}?_action=${SIGN}.1`, body, headers)),
    expectChanges: (count) => void (changes += count),
    permit: (...statuses) => void permitted.push(...statuses),
    async probe() {
      const seen = server.stdout.length
      process.kill(server.pid, 'SIGUSR2')
      const find = (): string | undefined => server.stdout.slice(seen).find((line) => line.startsWith('{"probe"'))
      await expect.poll(find, { timeout: 5_000 }).toBeDefined()
      return (JSON.parse(find() ?? '') as { probe: ProcessFacts }).probe
    },
  }
}

function failsOnPurpose(route: unknown): boolean {
  return typeof route === 'string' && /^(?:\/_m\/data)?\/lab\/(?:crash|flaky)\//.test(route)
}

/** A POST as a form would send it, unless a header says otherwise. */
export function postRequest(
  target: string,
  body: string | Uint8Array,
  headers: HeaderLines = {},
  host = 'localhost',
): Buffer {
  const bytes = Buffer.from(body as string)
  const fields: HeaderLines = {
    Host: host,
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(bytes.length),
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes])
}

/** A document and its data, without what is new in each answer. */
async function ordinaryAnswers(port: number, origin?: string): Promise<readonly string[]> {
  const host = origin === undefined ? undefined : new URL(origin).host
  const paths = ['/lab/params/ordinary?a=1', '/_m/data/lab/params/ordinary?a=1']
  return Promise.all(paths.map(async (path) => steadyText(await requestRaw(port, getRequest(path, {}, host)))))
}

/**
 * An answer as text, without its date, its timings, its nonce, and the last drop that its data contains: what is left is
 * equal for equal requests.
 */
export function steadyText({ status, headers, text }: RawResponse): string {
  const nonce = headers.map(([, value]) => /'nonce-([^']+)'/.exec(value)?.[1]).find((found) => found !== undefined)
  const lines = headers
    .filter(([name]) => !/^(?:date|server-timing)$/i.test(name))
    .map(([name, value]) => `${name}: ${value}`)
  const all = `${status}\n${lines.join('\n')}\n\n${text}`.replaceAll(/,"at":\d{16}/g, '')
  return nonce === undefined ? all : all.replaceAll(nonce, 'NONCE')
}
