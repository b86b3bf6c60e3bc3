import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { NoPlaceError, type BodyPlace } from '../../../src/server/reports/relay/body-places.ts'
import { readReportBody, type ReportBody } from '../../../src/server/reports/relay/read-report-body.ts'

const never = new AbortController().signal

/** A request whose body the test writes, and places that the test gives. */
function setUp(headers: Readonly<Record<string, string>> = {}, now?: () => number) {
  const stream = new PassThrough({ highWaterMark: 10_000_000 })
  const seen = { asked: 0, left: 0, charged: 0, came: 0, received: 0, headers: 0 }
  const place = Promise.withResolvers<BodyPlace>()
  const lost = new AbortController()
  const rules = {
    judgeHeader: () => void (seen.headers += 1),
    charge: (bytes: number, received: number) =>
      Promise.resolve(void Object.assign(seen, { charged: seen.charged + bytes, came: received })),
    places: {
      enter() {
        seen.asked += 1
        return place.promise
      },
    },
  }
  const req = Object.assign(stream, { headers }) as unknown as IncomingMessage
  const body = readReportBody(req, rules, { client: 'one', signal: never }, now)
  const state: { body?: ReportBody } = {}
  void body.then(
    (read) => (state.body = read),
    () => undefined,
  )
  const given: BodyPlace = {
    signal: lost.signal,
    received: (bytes) => void (seen.received += bytes),
    leave: () => void (seen.left += 1),
  }
  return { stream, seen, body, state, lost, give: () => place.resolve(given) }
}

function envelopeOf(size: number): Buffer {
  const head = '{"a":1}\n{"type":"attachment"}\n'
  return Buffer.from(head + 'x'.repeat(size - head.length))
}

describe.for(['plain', 'gzip'] as const)('a large body (%s)', (coding) => {
  const headers: Record<string, string> = coding === 'gzip' ? { 'content-encoding': 'gzip' } : {}
  const sent = (size: number): Buffer => (coding === 'gzip' ? gzipSync(envelopeOf(size)) : envelopeOf(size))

  test('is read on only when it has a place, and leaves it when it is no longer needed', async () => {
    const { stream, seen, body, state, give } = setUp(headers)
    const bytes = sent(2_000_000)
    stream.end(bytes)
    while (seen.asked === 0) await turn()
    for (let count = 0; count < 20; count += 1) await turn()
    expect(state.body).toBeUndefined()
    give()
    const read = await body
    expect(read.bytes.equals(envelopeOf(2_000_000))).toBe(true)
    expect(seen).toMatchObject({ asked: 1, left: 0, charged: 2_000_000, came: bytes.length, headers: 1 })
    expect(seen.received).toBeGreaterThan(1_000_000)
    read[Symbol.dispose]()
    expect(seen.left).toBe(1)
  })

  test('leaves its place when it is refused', async () => {
    const { stream, seen, body, give } = setUp(headers)
    give()
    const bytes = sent(21_000_000)
    stream.write(bytes.subarray(0, bytes.length / 2))
    while (seen.asked === 0) await turn()
    stream.end(bytes.subarray(bytes.length / 2))
    await expect(body).rejects.toMatchObject({ status: 413 })
    expect(seen).toMatchObject({ asked: 1, left: 1 })
    expect(seen.charged).toBeLessThanOrEqual(20_971_520)
  })

  test('is given up, and leaves, when its place is taken back', async () => {
    const { stream, seen, body, give, lost } = setUp(headers)
    give()
    const bytes = sent(2_000_000)
    stream.write(bytes.subarray(0, bytes.length - 10))
    while (seen.asked === 0) await turn()
    for (let count = 0; count < 50; count += 1) await turn()
    lost.abort(new NoPlaceError())
    await expect(body).rejects.toBeInstanceOf(NoPlaceError)
    expect(seen.left).toBe(1)
  })

  test('needs no place while it is small', async () => {
    const { stream, seen, body } = setUp(headers)
    stream.end(sent(262_144))
    expect((await body).bytes).toHaveLength(262_144)
    expect(seen.asked).toBe(0)
  })
})

test('a body of brotli needs a place before anything of it is inflated', async () => {
  const { stream, seen, body, state, give } = setUp({ 'content-encoding': 'br' })
  stream.end(brotliCompressSync(envelopeOf(1_000)))
  for (let count = 0; count < 50; count += 1) await turn()
  expect([seen.asked, seen.charged, state.body]).toEqual([1, 0, undefined])
  give()
  const read = await body
  expect(read.bytes).toHaveLength(1_000)
  read[Symbol.dispose]()
  expect(seen.left).toBe(1)
})

test('a body that comes steadily and never ends is given up', async () => {
  const clock = { now: 0 }
  const { stream, body } = setUp({}, () => clock.now)
  stream.write('{"a":1}\n')
  await turn()
  clock.now = 60_001
  stream.write('x')
  await expect(body).rejects.toMatchObject({ status: 408 })
})

describe('a small body of a stated length', () => {
  function read(written: number, stated: number) {
    const stream = new PassThrough()
    stream.write(envelopeOf(written))
    const asked = { signal: 0 }
    const owner = {
      client: 'one',
      get signal() {
        asked.signal += 1
        return never
      },
    }
    const rules = {
      judgeHeader: () => undefined,
      charge: () => Promise.resolve(),
      places: { enter: () => Promise.reject(new Error('no place is needed')) },
    }
    const req = Object.assign(stream, { headers: { 'content-length': String(stated) } }) as unknown as IncomingMessage
    return { stream, asked, body: readReportBody(req, rules, owner) }
  }

  test('is taken as soon as its last byte is there', async () => {
    const { body, asked } = read(4_096, 4_096)
    expect((await body).bytes.equals(envelopeOf(4_096))).toBe(true)
    expect(asked.signal).toBe(0)
  })

  test('is waited for while a byte of it is missing', async () => {
    const { stream, body, asked } = read(4_095, 4_096)
    await turn()
    stream.end('x')
    expect((await body).bytes).toHaveLength(4_096)
    expect(asked.signal).toBe(1)
  })
})
