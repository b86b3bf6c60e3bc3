import { array, assert, constantFrom, integer, oneof, property, uint8Array } from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import { createMultipartParser } from '../../../src/server/http/body/multipart-parser.ts'
import { readPartHead } from '../../../src/server/http/body/part-head.ts'
import { disposition, FINAL, part } from './body-server.ts'

type Parsed = readonly (readonly [head: string, content: string])[] | number

/** Parts, or the status of the refusal. */
function parse(body: Uint8Array, cuts: readonly number[] = []): Parsed {
  const bytes = Buffer.from(body)
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].toSorted((a, b) => a - b)
  const parser = createMultipartParser('x')
  const parts: [string, string][] = []
  try {
    let start = 0
    for (const end of ends) {
      for (const event of parser.push(bytes.subarray(start, end))) {
        if (event.kind === 'part') parts.push([event.head.toString('latin1'), ''])
        const last = parts.at(-1)
        if (event.kind === 'data' && last !== undefined) last[1] += event.bytes.toString('latin1')
      }
      start = end
    }
    parser.finish()
    return parts
  } catch (error) {
    if (error instanceof BodyError) return error.status
    throw error
  }
}

const TWO = `${part('A: 1', 'one\r\n--')}${part('B: 2', '\r\n-\r\n--\r\n--y')}${FINAL}`

test('chunks may be cut anywhere', () => {
  const whole = parse(Buffer.from(TWO))
  expect(whole).toEqual([
    ['A: 1', 'one\r\n--'],
    ['B: 2', '\r\n-\r\n--\r\n--y'],
  ])
  for (let cut = 1; cut < TWO.length; cut += 1) expect(parse(Buffer.from(TWO), [cut])).toEqual(whole)
  expect(
    parse(
      Buffer.from(TWO),
      Array.from(TWO, (_, index) => index),
    ),
  ).toEqual(whole)
})

test('cuts change nothing, whatever the bytes are', () => {
  const piece = oneof(
    constantFrom('\r\n--x', '--x', '\r\n', '\r', '\n', '-', '--', '--x--', 'A: 1\r\n\r\n', '\r\n\r\n', 'x').map(
      (text) => Buffer.from(text),
    ),
    uint8Array({ maxLength: 5 }),
  )
  const body = array(piece, { maxLength: 30 }).map((pieces) => Buffer.concat([Buffer.from('--x\r\n'), ...pieces]))
  assert(
    property(body, array(integer({ min: 0, max: 200 }), { maxLength: 10 }), (bytes, cuts) => {
      expect(parse(bytes, cuts)).toEqual(parse(bytes))
    }),
    { numRuns: 2_000 },
  )
})

describe('what is no multipart body is refused', () => {
  test.for<[string, string, Parsed]>([
    ['nothing', '', 400],
    ['no boundary', 'hello', 400],
    ['no parts', FINAL, []],
    ['no line break at the end', `${part('A: 1', '1')}--x--`, [['A: 1', '1']]],
    ['an epilogue', `${part('A: 1', '1')}${FINAL}${part('B: 1', '2')}`, [['A: 1', '1']]],
    ['a preamble', `hello\r\n${part('A: 1', '1')}${FINAL}`, [['A: 1', '1']]],
    ['an empty part', `${part('A: 1', '')}${FINAL}`, [['A: 1', '']]],
    ['a part without headers', `--x\r\n\r\n1\r\n${FINAL}`, [['', '1']]],
    ['no empty line', `--x\r\nA: 1\r\n${FINAL}`, 400],
    ['no final boundary', part('A: 1', '1'), 400],
    ['half a final boundary', `${part('A: 1', '1')}--x-`, 400],
    ['a cut head', `--x\r\nA: 1`, 400],
    ['a longer boundary', `--xy\r\nA: 1\r\n\r\n1\r\n--xy--`, 400],
    ['line feeds alone', '--x\nA: 1\n\n1\n--x--\n', 400],
    ['8 KiB of headers', `${part('a'.repeat(8_190), '1')}${FINAL}`, [['a'.repeat(8_190), '1']]],
    ['more than that', `${part('a'.repeat(8_191), '1')}${FINAL}`, 400],
    ['far more than that, without an end', `--x\r\n${'a'.repeat(1_000_000)}`, 400],
    [
      'a thousand parts',
      part('A: 1', '').repeat(1_000) + FINAL,
      Array.from({ length: 1_000 }, () => ['A: 1', ''] as const),
    ],
    ['a thousand and one', part('A: 1', '').repeat(1_001) + FINAL, 413],
  ])('%s', ([, body, parsed]) => {
    expect(parse(Buffer.from(body))).toEqual(parsed)
  })
})

describe('the headers of a part', () => {
  const read = (head: string) => {
    try {
      return readPartHead(Buffer.from(head, 'latin1'))
    } catch (error) {
      if (error instanceof BodyError) return error.status
      throw error
    }
  }

  test.for<[string, object | number]>([
    [disposition('a'), { name: 'a', filename: undefined, type: 'text/plain' }],
    [`${disposition('a', 'f.txt')}\r\nContent-Type: image/png`, { name: 'a', filename: 'f.txt', type: 'image/png' }],
    [
      `${disposition('a', 'f.txt')}\r\nContent-Type: IMAGE/PNG; q=1`,
      { name: 'a', filename: 'f.txt', type: 'image/png' },
    ],
    [
      `${disposition('a', 'f.txt')}\r\nContent-Type: image/png;a,text/html`,
      { name: 'a', filename: 'f.txt', type: 'application/octet-stream' },
    ],
    [
      `${disposition('a', 'f.txt')}\r\nContent-Type: image/png,text/html`,
      { name: 'a', filename: 'f.txt', type: 'application/octet-stream' },
    ],
    [
      `${disposition('a', 'f.txt')}\r\nContent-Type: image`,
      { name: 'a', filename: 'f.txt', type: 'application/octet-stream' },
    ],
    [`content-disposition:FORM-DATA;NAME=a`, { name: 'a', filename: undefined, type: 'text/plain' }],
    [`${disposition('a')}\r\nX-Other: 1`, { name: 'a', filename: undefined, type: 'text/plain' }],
    [`${disposition('a')}\r\nContent-Type: text/plain; charset=utf-8`, { name: 'a' }],
    [`${disposition('a')}\r\nContent-Transfer-Encoding: 8bit`, { name: 'a' }],
    [disposition('a', ''), { name: 'a', filename: '' }],
    [disposition('a\\\\b'), { name: 'a\\\\b' }],
    [disposition('a%22b%0D%0Ac%41'), { name: 'a"b\r\nc%41' }],
    [disposition('a;b=c'), { name: 'a;b=c' }],
    [disposition('a', '../../etc/passwd'), { filename: 'passwd' }],
    [disposition('a', 'C:\\boot.ini'), { filename: 'boot.ini' }],
    [disposition('a', '..'), { filename: '' }],
    [disposition('a', 'a/..'), { filename: '' }],
    [disposition('a', '\u00c3\u00a4.txt'), { filename: 'ä.txt' }],
    [disposition('__proto__'), { name: '__proto__' }],
    [disposition(''), 400],
    [disposition('a'.repeat(201)), 400],
    [disposition('\u00e4'), 400],
    [disposition('a\0'), 400],
    [disposition('a\nb'), 400],
    [disposition('a"b'), 400],
    [`${disposition('a')}; name="b"`, 400],
    [`${disposition('a')}; filename*=UTF-8''%E0%A4`, 400],
    [`${disposition('a', 'b')}; filename*=UTF-8''c`, 400],
    [disposition('a', 'f'.repeat(7_000)), { filename: 'f'.repeat(7_000) }],
    [`${disposition('a')}\r\n${disposition('b')}`, 400],
    [`${disposition('a')}\r\n folded`, 400],
    [`${disposition('a')}\r\njunk`, 400],
    ['Content-Disposition: attachment; name="a"', 400],
    ['Content-Disposition: form-data', 400],
    ['Content-Disposition: form-data; filename="a"', 400],
    ['Content-Type: text/plain', 400],
    ['', 400],
    [`${disposition('a')}\r\nContent-Type: text/plain; charset=utf-16`, 415],
    [`${disposition('a')}\r\nContent-Transfer-Encoding: base64`, 415],
  ])('%j', ([head, expected]) => {
    const found = read(head)
    if (typeof expected === 'number') expect(found).toBe(expected)
    else expect(found).toMatchObject(expected)
  })

  // Shared by two repeats, so many spaces would take minutes.
  test.for(['\0', '\n', ' '])('spaces without end in front of %j', (end) => {
    const head = `${disposition('a')}\r\nX-Other:${' \t'.repeat(200_000)}${end}`
    expect(read(head)).toEqual(end === ' ' ? { name: 'a', filename: undefined, type: 'text/plain' } : 400)
  })
})

test('nothing is kept or copied of what follows the final boundary', () => {
  const parser = createMultipartParser('x')
  const concat = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => concat.mockRestore())
  expect([...parser.push(Buffer.from('--x--'))]).toEqual([])
  concat.mockClear()
  for (let at = 0; at < 100; at += 1) expect([...parser.push(Buffer.alloc(1_000, '\r\n--x'))]).toEqual([])
  parser.finish()
  expect(concat).not.toHaveBeenCalled()
})
