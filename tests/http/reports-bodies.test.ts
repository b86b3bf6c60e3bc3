import { setImmediate as turn } from 'node:timers/promises'
import zlib from 'node:zlib'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MAX_ENVELOPE_BYTES } from '../../src/server/reports/relay/read-report-body.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { CRASH, newEventId, postRequest, startReportServer } from './report-setup.ts'

const MIB = 1_048_576

const CODINGS = [
  ['gzip', (bytes: Buffer) => zlib.gzipSync(bytes)],
  ['x-gzip', (bytes: Buffer) => zlib.gzipSync(bytes)],
  ['deflate', (bytes: Buffer) => zlib.deflateSync(bytes)],
  ['br', (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ['zstd', (bytes: Buffer) => zlib.zstdCompressSync(bytes)],
  ['GZIP', (bytes: Buffer) => zlib.gzipSync(bytes)],
] as const

/** The body in chunks of so many bytes. */
function chunked(path: string, body: Buffer, every: number): Buffer {
  const parts: Buffer[] = [
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`),
  ]
  for (let start = 0; start < body.length; start += every) {
    const piece = body.subarray(start, start + every)
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

describe.for(CODINGS)('a body in %s', ([coding, compress]) => {
  test('is read', async () => {
    const { post, envelope, sink } = await startReportServer()
    const id = newEventId()
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 31) % 251))
    const body = envelope([CRASH, ['attachment', bytes]], { event_id: id })
    expect((await post(compress(body), { 'Content-Encoding': coding })).status).toBe(200)
    await sink.until(({ requests }) => requests.length === 1)
    expect(sink.requests[0]?.headers['content-encoding']).toBeUndefined()
    expect(sink.requests[0]?.eventId).toBe(id)
    expect(sink.requests[0]?.envelope?.items[1]?.payload.equals(bytes)).toBe(true)
  })

  test('that is a bomb is stopped, and nothing of it kept', async () => {
    const { post, envelope, report, sink, port } = await startReportServer()
    const bomb = compress(envelope([CRASH, ['attachment', Buffer.alloc(64 * MIB)]]))
    expect(bomb.length).toBeLessThan(MIB)
    expect((await post(bomb, { 'Content-Encoding': coding })).status).toBe(413)
    expect((await requestRaw(port, getRequest('/'))).status).toBe(200)
    await report()
    await sink.until(({ requests }) => requests.length > 0)
    expect(sink.requests).toHaveLength(1)
  })

  test('that ends too early, or is something else, is refused', async () => {
    const { post, envelope } = await startReportServer()
    const whole = compress(
      envelope([CRASH, ['attachment', Buffer.from(crypto.getRandomValues(new Uint8Array(9_000)))]]),
    )
    const answers = [
      await post(whole.subarray(0, whole.length - 50), { 'Content-Encoding': coding }),
      await post(Buffer.from('hello, this is no compressed body'), { 'Content-Encoding': coding }),
      await post('', { 'Content-Encoding': coding }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400])
  })
})

test.for(['compress', 'gzip, gzip', 'gzip, br', 'x'])(
  'a body in %s is refused, with the codings that are taken',
  async (coding) => {
    const { report } = await startReportServer()
    const answer = await report(undefined, { 'Content-Encoding': coding })
    expect(answer.status).toBe(415)
    expect(answer.header('accept-encoding')).toBe('gzip, deflate, br, zstd')
  },
)

test('many bombs at once wait for each other, and are all refused', async () => {
  const { post, envelope } = await startReportServer()
  const bomb = zlib.gzipSync(envelope([['attachment', Buffer.alloc(64 * MIB)]]))
  const answers = await Promise.all(Array.from({ length: 11 }, () => post(bomb, { 'Content-Encoding': 'gzip' })))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([413]))
})

describe('a body in chunks', () => {
  test.for([1, 7, 1_000] as const)('of %i bytes is read', async (every) => {
    const { port, path, envelope, sink } = await startReportServer()
    const body = envelope([CRASH, ['attachment', Buffer.from('\n{}\n')]])
    expect((await requestRaw(port, chunked(path, body, every))).status).toBe(200)
    await sink.until(({ requests }) => requests.length === 1)
    expect(sink.requests[0]?.envelope?.items).toHaveLength(2)
  })

  test('that come byte by byte on the wire is read', async () => {
    const { port, path, envelope } = await startReportServer()
    const answer = await requestRaw(port, postRequest(path, envelope()), { every: 1 })
    expect(answer.status).toBe(200)
  })

  test('that never ends is refused at the limit', async () => {
    const { port, path, envelope } = await startReportServer()
    const answer = await requestRaw(port, chunked(path, envelope([['attachment', Buffer.alloc(21 * MIB)]]), MIB))
    expect(answer.status).toBe(413)
  })
})

test('an envelope at the limit is taken, one beyond it is refused before a byte of it has come', async () => {
  const { post, envelope, port, path } = await startReportServer({ SENTRY_DSN: '' })
  const rest = envelope([['attachment', Buffer.alloc(10_000_000)]]).length - 10_000_000
  const largest = envelope([['attachment', Buffer.alloc(MAX_ENVELOPE_BYTES - rest)]])
  expect(largest).toHaveLength(MAX_ENVELOPE_BYTES)
  expect((await post(largest)).status).toBe(200)
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${MAX_ENVELOPE_BYTES + 1}\r\n\r\n`
  expect((await requestRaw(port, head)).status).toBe(413)
})

describe('the verdict on the header does not wait for the body', () => {
  test.for([
    ['another DSN', '{"dsn":"https://key@evil.test/1"}\n', 403],
    ['no DSN', '{}\n', 400],
    ['no JSON', 'hello\n', 400],
    ['a line without an end', `{"dsn":"${'x'.repeat(66_000)}`, 413],
    ['a line that is too long', `{"dsn":"${'x'.repeat(66_000)}"}\n`, 413],
  ] as const)('%s', async ([, beginning, status]) => {
    const { port, path } = await startReportServer()
    using connection = await connectRaw(port)
    await connection.send(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n${beginning}`)
    const answer = await connection.response()
    expect(answer.status).toBe(status)
    expect(answer.header('connection')).toBe('close')
    await connection.send('x'.repeat(1_000))
    expect((await connection.end()).rest).toHaveLength(0)
  })
})

describe('a client that goes silent', () => {
  afterEach(() => void vi.useRealTimers())

  test('is answered with 408', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { port, path, envelope } = await startReportServer({ SENTRY_DSN: '' })
    using connection = await connectRaw(port)
    const whole = postRequest(path, envelope())
    await connection.send(whole.subarray(0, whole.length - 10))
    while (vi.getTimerCount() === 0) await turn()
    vi.advanceTimersByTime(10_000)
    expect((await connection.response()).status).toBe(408)
  })

  test.for(['plain', 'gzip'] as const)('and leaves, leaves nothing behind (%s)', async (coding) => {
    const { port, path, envelope, report, sink, logs } = await startReportServer()
    const body = envelope([CRASH, ['attachment', Buffer.alloc(400_000, 'x')]])
    const sent = coding === 'gzip' ? zlib.gzipSync(body) : body
    const headers: Record<string, string> = coding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}
    const whole = postRequest(path, sent, headers)
    for (let count = 0; count < 5; count += 1) {
      using connection = await connectRaw(port)
      // Nothing runs for a connection that is reset before its address is known.
      await connection.send(getRequest('/none'))
      await connection.response()
      await connection.send(whole.subarray(0, whole.length - 200))
      connection.socket.resetAndDestroy()
    }
    await vi.waitFor(() => expect(logs.filter(({ aborted }) => aborted === true)).toHaveLength(5))
    // All places are free again, and no half envelope was kept.
    expect((await report([CRASH, ['attachment', Buffer.alloc(400_000)]])).status).toBe(200)
    await sink.until(({ requests }) => requests.length > 0)
    expect(sink.requests).toHaveLength(1)
    expect(logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })
})
