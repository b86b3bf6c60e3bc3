import { describe, expect, test } from 'vitest'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import { parseCheckedJson } from '../../../src/server/http/body/checked-json.ts'
import { createHeldBodies, type HeldBody } from '../../../src/server/http/body/held-bodies.ts'
import { holdWholeBody } from '../../../src/server/routes/resources/parse-body.ts'
import { readBody } from '../../../src/server/http/body/read-body.ts'
import { withServer } from '../../support/listening.ts'
import { requestRaw } from '../../support/raw-http.ts'
import { AMPLE, disposition, FINAL, MULTIPART, part, URLENCODED } from './body-server.ts'

const MOST = 1_000_000
const FREE = 4_096

/** The status of what is refused. */
function hold(body: HeldBody, bytes: number): number | 'held' {
  try {
    body.hold(bytes)
    return 'held'
  } catch (error) {
    if (error instanceof BodyError) return error.status
    throw error
  }
}

describe('bodies', () => {
  const QUARTER = MOST / 4

  test('hold so much all together, and who wants more is refused', () => {
    const bodies = createHeldBodies(MOST)
    const all = ['a', 'b', 'c', 'd'].map((client) => bodies.open(FREE, client))
    for (const body of all) expect(hold(body, FREE + QUARTER - 1)).toBe('held')
    expect(hold(bodies.open(FREE, 'e'), FREE + 4)).toBe('held')
    expect(hold(bodies.open(FREE, 'f'), FREE + 1)).toBe(503)
  })

  test('of the client with most lose their room to one with less, the oldest first', () => {
    const bodies = createHeldBodies(MOST)
    const lost: string[] = []
    const open = (client: string, name: string, bytes: number): HeldBody => {
      const body = bodies.open(FREE, client)
      body.whenLost((error) => lost.push(`${name} ${error.status}`))
      expect(hold(body, FREE + bytes)).toBe('held')
      return body
    }
    const first = open('a', 'a1', QUARTER / 2)
    open('a', 'a2', QUARTER / 2)
    for (const client of ['b', 'c', 'd']) open(client, client, QUARTER - 100)
    open('e', 'e1', 1_000)
    expect(lost).toEqual(['a1 503'])
    expect(hold(first, 1)).toBe(503)
    expect(() => first.run()).toThrow('Too many large bodies')
    first[Symbol.dispose]()
    // There was room for this; then the next with most loses.
    open('e', 'e2', QUARTER / 2)
    expect(lost).toEqual(['a1 503', 'b 503'])
    // A client with most has nobody with more.
    const next = bodies.open(FREE, 'c')
    expect(hold(next, FREE + QUARTER)).toBe(503)
    expect(lost).toEqual(['a1 503', 'b 503'])
  })

  test('that are complete keep their room', () => {
    const bodies = createHeldBodies(MOST)
    const lost: unknown[] = []
    for (const client of ['a', 'b', 'c', 'd', 'e']) {
      const body = bodies.open(FREE, client)
      body.whenLost((error) => lost.push(error))
      expect(hold(body, FREE + QUARTER)).toBe('held')
      body.run()
    }
    expect(lost).toEqual([])
  })

  test('that are read on behind their answer hold nothing: nobody would give it back', () => {
    const bodies = createHeldBodies(MOST)
    for (let at = 0; at < 10; at += 1) {
      const body = bodies.open(FREE, 'a')
      body[Symbol.dispose]()
      expect(hold(body, FREE + QUARTER)).toBe('held')
      body.run()
    }
    expect(hold(bodies.open(FREE, 'b'), FREE + QUARTER)).toBe('held')
  })

  test('of one client hold half of it, and the others find a quarter each', () => {
    const bodies = createHeldBodies(MOST)
    const greedy = Array.from({ length: 100 }, () => hold(bodies.open(FREE, 'greedy'), FREE + MOST / 100))
    expect(greedy.filter((verdict) => verdict === 'held')).toHaveLength(50)
    for (const client of ['b', 'c']) expect(hold(bodies.open(FREE, client), FREE + QUARTER)).toBe('held')
  })

  test('leave what they have held, once', () => {
    const bodies = createHeldBodies(MOST)
    const one = bodies.open(FREE, 'a')
    expect(hold(one, FREE + MOST / 2)).toBe('held')
    one[Symbol.dispose]()
    one[Symbol.dispose]()
    const next = bodies.open(FREE, 'a')
    expect(hold(next, FREE + MOST / 2)).toBe('held')
    expect(hold(next, 1)).toBe(503)
  })

  test('whose handlers run leave their room to those that are sent, and are bounded by themselves', () => {
    const bodies = createHeldBodies(MOST)
    const count = (verdicts: readonly unknown[]): number => verdicts.filter((verdict) => verdict === 'held').length
    const run = (client: string): unknown => {
      const body = bodies.open(FREE, client)
      const held = hold(body, FREE + MOST / 64)
      if (held !== 'held') return held
      try {
        body.run()
        return held
      } catch (error) {
        body[Symbol.dispose]()
        return error
      }
    }
    // Slow handlers with a body of 1 MB each, as it were.
    expect(count(Array.from({ length: 64 }, () => run('greedy')))).toBe(64)
    expect(hold(bodies.open(FREE, 'greedy'), FREE + QUARTER)).toBe('held')
    expect(count(Array.from({ length: 100 }, () => run('greedy')))).toBe(32)
    expect(run('honest')).toBe('held')
  })

  test('of what people type are taken, whoever holds the rest', () => {
    const bodies = createHeldBodies(MOST)
    expect(hold(bodies.open(FREE, 'a'), 2 * MOST)).toBe(503)
    for (let count = 0; count < 1_000; count += 1) expect(hold(bodies.open(FREE, 'a'), FREE)).toBe('held')
  })

  test('may be four of the largest, where that is more', () => {
    const bodies = createHeldBodies(MOST)
    const largest = 10 * MOST
    for (const client of ['a', 'b', 'c', 'd']) expect(hold(bodies.open(largest, client), largest)).toBe('held')
    // There is as much room for others as for these.
    expect(hold(bodies.open(FREE, 'e'), FREE + 1)).toBe('held')
    expect(hold(bodies.open(largest, 'f'), largest)).toBe(503)
  })

  test('that have arrived together are made into values in several turns of the event loop, clients by turns', async () => {
    const bodies = createHeldBodies(MOST)
    const order: string[] = []
    const wait = (client: string, bytes: number): unknown =>
      bodies
        .open(FREE, client)
        .turn(bytes)
        ?.then(() => order.push(client))
    for (const client of ['a', 'a', 'a', 'b', 'c']) wait(client, 100_000)
    expect(wait('d', 16_383), 'a small one is not worth a turn').toBeUndefined()
    const seen: string[] = []
    for (let turn = 0; turn < 12 && order.length < 5; turn += 1) {
      await new Promise(setImmediate)
      seen.push(order.join(''))
    }
    expect(order.join('')).toBe('aabca')
    expect(Math.max(...seen.map((now, at) => now.length - (seen[at - 1]?.length ?? 0)))).toBe(1)
  })

  test('of JSON hold what becomes of them, too', () => {
    const held: number[] = []
    expect(parseCheckedJson(`[${'{},'.repeat(10_000)}"{},[]"]`, (bytes) => held.push(bytes))).toHaveLength(10_001)
    expect(held).toEqual([10_001 * 56 + 10_000 * 16])
    const full = (): never => {
      throw new BodyError(503, 'Too many large bodies at once')
    }
    // Before anything is made of it: this is no JSON.
    expect(() => parseCheckedJson('[{},', full)).toThrow('Too many large bodies')
  })
})

const fields = part(disposition('a'), 'x'.repeat(100)) + part(disposition('b'), 'y'.repeat(100))
const heads = [disposition('a'), disposition('b'), disposition('f', 'f.txt')].join('').length
const file = part(disposition('f', 'f.txt'), 'z'.repeat(500))

test.for([
  ['a form', URLENCODED, `a=${'x'.repeat(98)}`, false, 100],
  ['JSON', 'application/json', `"${'x'.repeat(98)}"`, false, 100],
  ['parts', MULTIPART, fields + file + FINAL, false, (fields + file + FINAL).length],
  ['parts whose files are streamed, their fields alone', MULTIPART, fields + file + FINAL, true, 200 + heads],
] as const)('what is kept of %s is told', async ([, type, body, streamed, expected]) => {
  let told = 0
  const { promise: taken, resolve } = Promise.withResolvers<unknown>()
  await withServer(
    (req, res) => {
      const { signal } = new AbortController()
      const memory = { hold: (bytes: number) => void (told += bytes), whenLost: () => undefined, turn: () => undefined }
      void readBody(req, { ...AMPLE, streamed }, signal, memory).then(resolve, resolve)
      void taken.finally(() => res.setHeader('Connection', 'close').end())
    },
    (port) =>
      requestRaw(
        port,
        `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
  )
  expect(await taken).toMatchObject({ kind: type === 'application/json' ? 'json' : 'form' })
  expect(told).toBe(expected)
})

test.for<readonly [what: string, isPrepared: boolean, headers: object, httpVersionMajor?: number]>([
  ['no headers of a body', false, {}],
  ['an empty body', false, { 'content-length': '0' }],
  ['a length', true, { 'content-length': '5' }],
  ['pieces', true, { 'transfer-encoding': 'chunked' }],
  ['no headers of a body over HTTP/2, which needs none', true, {}, 2],
])('a handler’s request with %s: whether counting is prepared is %s', ([, isPrepared, headers, version = 1]) => {
  const context = { req: { headers, httpVersionMajor: version }, body: { hold: undefined } }
  holdWholeBody(FREE, context as never, { heldBodies: createHeldBodies(MOST), origins: [] })
  expect(context.body.hold !== undefined).toBe(isPrepared)
})

test.each([
  ['application/json', '[1]'],
  [URLENCODED, 'a=1'],
])('a body of %s is made into values when its turn comes', async (type, text) => {
  const turn = Promise.withResolvers<void>()
  const asked: number[] = []
  const events: string[] = []
  await withServer(
    (req, res) => {
      const memory = {
        hold: () => undefined,
        whenLost: () => undefined,
        turn: (bytes: number) => {
          asked.push(bytes)
          setTimeout(() => {
            events.push('turn')
            turn.resolve()
          })
          return turn.promise
        },
      }
      void readBody(req, AMPLE, new AbortController().signal, memory).then(() => {
        events.push('read')
        res.end()
      })
    },
    async (port) => {
      await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: { 'Content-Type': type }, body: text })
    },
  )
  expect([asked, events]).toEqual([[3], ['turn', 'read']])
})
