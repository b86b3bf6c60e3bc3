import { brotliCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createInbox } from '../../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { connectRaw, requestRaw } from '../../support/raw-http.ts'
import { CRASH, postRequest, startReportServer, type ReportServer } from '../report-setup.ts'

const GREEDY = { 'X-Forwarded-For': '198.51.100.1' }
const HONEST = { 'X-Forwarded-For': '203.0.113.9' }
const BROTLI = { 'Content-Encoding': 'br' }

/** Behind a proxy, which says for whom it asks; `dsn` for a service, else there is the inbox. */
async function start(withService = false): Promise<ReportServer> {
  const server = await startReportServer({ TRUST_PROXY: '127.0.0.1', ...(withService ? {} : { SENTRY_DSN: '' }) })
  return server
}

/** Titles of what the inbox keeps. */
function titlesIn({ dataDir }: ReportServer): string[] {
  const database = openReportDatabase(dataDir)
  onTestFinished(() => database.dispose())
  return createInbox(database)
    .list(1)
    .groups.map(({ title }) => title)
}

const named = (value: string) => ['event', { exception: { values: [{ type: 'Error', value }] } }] as const

/** An envelope that inflates to so many bytes, in about a hundred. */
function bomb({ envelope }: ReportServer, bytes: number): Buffer {
  return brotliCompressSync(envelope([CRASH, ['attachment', Buffer.alloc(bytes - 400)]]))
}

/** Sends the same body again and again over a few connections. @returns the statuses. */
async function flood(
  server: ReportServer,
  body: Buffer,
  headers: Record<string, string>,
  count: number,
): Promise<number[]> {
  const request = postRequest(server.path, body, headers)
  const lanes = Array.from({ length: 4 }, async () => {
    const statuses: number[] = []
    for (let sent = 0; sent < count / 4; sent += 1) statuses.push((await requestRaw(server.port, request)).status)
    return statuses
  })
  return (await Promise.all(lanes)).flat()
}

describe('one client against the inbox', () => {
  // What it may send comes back with time: on a slow machine as fast as it is used.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  test('1,100 small bombs are charged by what they inflate to, and wipe nothing out', { timeout: 60_000 }, async () => {
    const server = await start()
    expect((await server.report([named('of an honest visitor')], HONEST)).status).toBe(200)
    const body = bomb(server, 262_000)
    expect(body.length).toBeLessThan(300)
    const statuses = await flood(server, body, { ...GREEDY, ...BROTLI }, 1_100)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(100)
    expect((await server.report([named('of another visitor')], HONEST)).status).toBe(200)
    expect(titlesIn(server)).toEqual(
      expect.arrayContaining(['Error: of an honest visitor', 'Error: of another visitor']),
    )
  })

  test.for([
    ['events of many values', `{"a":[${'{},'.repeat(45_000)}0]}`],
    ['texts of 2 MB', JSON.stringify({ message: 'x'.repeat(2_000_000) })],
    ['events that nest deeply', `{"a":${'['.repeat(49_000)}${']'.repeat(49_000)}}`],
  ] as const)('%s use up what it may send', { timeout: 60_000 }, async ([, payload]) => {
    const server = await start()
    const body = brotliCompressSync(server.envelope([['event', Buffer.from(payload)]]))
    const statuses = await flood(server, body, { ...GREEDY, ...BROTLI }, 80)
    expect(statuses).toContain(200)
    expect(statuses).toContain(429)
    expect((await server.report([CRASH], HONEST)).status).toBe(200)
  })

  test('addresses of one IPv6 network are one client', async () => {
    const server = await start()
    const body = brotliCompressSync(server.envelope([['event', Buffer.from(`{"a":[${'{},'.repeat(45_000)}0]}`)]]))
    const statuses: number[] = []
    for (let at = 0; at < 14; at += 1) {
      statuses.push((await server.post(body, { 'X-Forwarded-For': `2001:db8:7:7::${at}`, ...BROTLI })).status)
    }
    expect(statuses).toContain(429)
    expect((await server.post(body, { 'X-Forwarded-For': '2001:db8:7:8::1', ...BROTLI })).status).toBe(200)
  })
})

describe('slow senders of large envelopes', () => {
  /** Sends a third of a large envelope, and then little by little. */
  async function stall({ port, path, envelope }: ReportServer, address: string): Promise<void> {
    const connection = await connectRaw(port)
    connection.socket.on('error', () => undefined)
    onTestFinished(() => void connection[Symbol.dispose]())
    const whole = postRequest(path, envelope([CRASH, ['attachment', Buffer.alloc(900_000)]]), {
      'X-Forwarded-For': address,
    })
    await connection.send(whole.subarray(0, 300_000))
    let sent = 300_000
    const timer = setInterval(() => connection.socket.write(whole.subarray(sent, (sent += 2_000))), 200)
    onTestFinished(() => clearInterval(timer))
  }

  const large = ({ report }: ReportServer, headers: Record<string, string>) =>
    report([CRASH, ['attachment', Buffer.alloc(2_000_000)]], headers)

  test('of one client leave a place for others at once, over however many connections', async () => {
    const server = await start()
    for (let count = 0; count < 8; count += 1) await stall(server, GREEDY['X-Forwarded-For'])
    const startedAt = performance.now()
    expect((await large(server, HONEST)).status).toBe(200)
    expect(performance.now() - startedAt).toBeLessThan(30_000) // a hang check: the stalled ones take a minute
  })
})
