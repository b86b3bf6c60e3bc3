import { describe, expect, test } from 'vitest'
import { BodyError } from '../../../src/server/actions/body-error.ts'
import { createHeldBodies, type HeldBody } from '../../../src/server/actions/held-bodies.ts'
import { readBody } from '../../../src/server/actions/read-body.ts'
import { withServer } from '../../support/listening.ts'
import { requestRaw } from '../../support/raw-http.ts'
import { AMPLE, disposition, FINAL, MULTIPART, part, URLENCODED } from './body-server.ts'

const MOST = 1_000_000
const FREE = 16_384

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
  test('hold so much all together, and who wants more is refused', () => {
    const bodies = createHeldBodies(MOST)
    const [one, two] = [bodies.open(FREE), bodies.open(FREE)]
    expect(hold(one, FREE + MOST - 10)).toBe('held')
    expect(hold(two, FREE + 10)).toBe('held')
    expect(hold(two, 1)).toBe(503)
    expect(hold(one, 1)).toBe(503)
  })

  test('leave what they have held, once', () => {
    const bodies = createHeldBodies(MOST)
    const one = bodies.open(FREE)
    expect(hold(one, FREE + MOST)).toBe('held')
    one[Symbol.dispose]()
    one[Symbol.dispose]()
    const next = bodies.open(FREE)
    expect(hold(next, FREE + MOST)).toBe('held')
    expect(hold(next, 1)).toBe(503)
  })

  test('of what people type are taken, whoever holds the rest', () => {
    const bodies = createHeldBodies(MOST)
    expect(hold(bodies.open(FREE), 2 * MOST)).toBe(503)
    for (let count = 0; count < 1_000; count += 1) expect(hold(bodies.open(FREE), FREE)).toBe('held')
  })

  test('may be four of the largest, where that is more', () => {
    const bodies = createHeldBodies(MOST)
    const largest = 10 * MOST
    const all = Array.from({ length: 4 }, () => bodies.open(largest))
    for (const body of all) expect(hold(body, largest)).toBe('held')
    // There is as much room for others as for these.
    expect(hold(bodies.open(FREE), FREE + 1)).toBe('held')
    expect(hold(bodies.open(largest), largest)).toBe(503)
    expect(hold(bodies.open(FREE), FREE + 1)).toBe(503)
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
      void readBody(req, { ...AMPLE, streamed }, signal, (bytes) => (told += bytes)).then(resolve, resolve)
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
