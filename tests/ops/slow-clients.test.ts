import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findProgram, programPath } from '../support/programs.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { SIGN } from '../support/replay-server.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { print } from './print.ts'
import { startLoad } from './visitor-load.ts'

const LIMIT_MS = 120_000 // for hangs only
const CONNECTIONS = 100 // of each kind
/** The tool ends when all its connections are closed, 13 s after its start: more is for a machine that is slow. */
const MOST_SECONDS = 45
/** Nothing is to be seen of slow readers but that others are served meanwhile. */
const READING_SECONDS = 15
const MOST_MEGABYTES = 450 // it has about 150 after its start, and the others' pages take theirs

/** The three ways of slowhttptest to hold connections. */
const ATTACKS = {
  'slow headers': ['-H', '-i', '5', '-x', '24'],
  'slow bodies': ['-B', '-i', '4', '-s', '4096', '-x', '10'],
  'slow readers': ['-X', '-k', '3', '-w', '1', '-y', '512', '-n', '5', '-z', '32'],
} as const

interface Outcome {
  /** Connections when it ended. */
  readonly connected: number
  readonly closed: number
  /** Whether the tool's own probe was answered at the end. */
  readonly available: boolean
}

describe.skipIf(findProgram('slowhttptest') === undefined)('300 connections of slow clients', () => {
  test('do not keep others from being served, and are closed', { timeout: LIMIT_MS }, async () => {
    const server = await serverOfTest({ env: { LOG_LEVEL: 'info' } })
    const load = startLoad({ origin: server.origin, visitors: 4, postEvery: 10 })
    const [headers, bodies, readers] = await Promise.all([
      attack('slow headers', server.origin, MOST_SECONDS),
      attack('slow bodies', `${server.origin}/lab/guestbook?_action=${SIGN}.1`, MOST_SECONDS),
      attack('slow readers', `${server.origin}/lab/bench/table?n=1000`, READING_SECONDS),
    ])
    const megabytes = await residentMegabytes(server.pid)
    const health = await requestRaw(server.port, getRequest('/healthz'))
    const { answered, posts, failures } = await load.stop()

    print(`${answered} answers to others, ${posts} forms among them, ${failures.length} failed; ${megabytes} MB`)
    for (const [name, { connected, closed }] of Object.entries({ headers, bodies, readers })) {
      print(`slow ${name}: ${closed} closed by the server, ${connected} left`)
    }
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(READING_SECONDS)
    expect(health.status).toBe(200)
    const allClosed = { connected: 0, closed: CONNECTIONS, available: true }
    expect([headers, bodies]).toEqual([allClosed, allClosed])
    // What these have not read waits in the system's memory; tests/unit/process/slow-readers.test.ts has the rest.
    expect(readers.available).toBe(true)
    expect(megabytes).toBeLessThan(MOST_MEGABYTES)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    // A server that stops has written all lines; before, the last ones may be on their way.
    const late = server.logs().filter(({ status }) => status === 408)
    expect(late).toHaveLength(CONNECTIONS)
  })
})

async function attack(kind: keyof typeof ATTACKS, url: string, seconds: number): Promise<Outcome> {
  const size = ['-c', String(CONNECTIONS), '-r', String(CONNECTIONS), '-l', String(seconds), '-p', '5']
  const child = spawn(programPath('slowhttptest'), [...ATTACKS[kind], ...size, '-u', url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said += part))
  await once(child, 'close')
  // oxlint-disable-next-line no-control-regex -- it colours what it says
  const plain = said.replaceAll(/\x1b\[[\d;]*m/g, '')
  const last = (name: string): string => [...plain.matchAll(new RegExp(`${name}:\\s+(\\w+)`, 'g'))].at(-1)?.[1] ?? ''
  const allGone = plain.includes('No open connections left')
  return {
    connected: allGone ? 0 : Number(last('connected')),
    closed: allGone ? CONNECTIONS : Number(last('closed')),
    available: last('service available') === 'YES',
  }
}

/** Memory of a process. Source: proc(5). */
async function residentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? 0) / 1_024)
}
