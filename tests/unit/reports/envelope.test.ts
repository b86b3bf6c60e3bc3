import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  EnvelopeError,
  MAX_HEADER_BYTES,
  MAX_ITEMS,
  parseEnvelope,
  serializeEnvelope,
} from '../../../src/server/reports/intake/envelope.ts'

/** Types and payloads of an envelope's items. */
function itemsOf(text: string | Buffer): [string, string][] {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return parseEnvelope(bytes).items.map(({ type, payload }) => [type, payload.toString('latin1')])
}

/** Status of the refusal. */
function refusal(text: string | Buffer): number {
  try {
    itemsOf(text)
    return 200
  } catch (error) {
    if (error instanceof EnvelopeError) return error.status
    throw error
  }
}

describe('what the service takes is taken', () => {
  test.for([
    ['nothing but a header', '{}', []],
    ['nothing but a header and its newline', '{"event_id":"1"}\n', []],
    ['a stated length', '{}\n{"type":"event","length":2}\n{}\n', [['event', '{}']]],
    ['no newline at the end', '{}\n{"type":"event","length":2}\n{}', [['event', '{}']]],
    ['no length', '{}\n{"type":"event"}\n{"a":1}\n', [['event', '{"a":1}']]],
    ['no length and no newline', '{}\n{"type":"attachment"}\nhelloworld', [['attachment', 'helloworld']]],
    ['a length of null', '{}\n{"type":"event","length":null}\n{}\n', [['event', '{}']]],
    [
      'an empty payload',
      '{}\n{"type":"a","length":0}\n\n{"type":"b","length":0}\n',
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    [
      'an empty payload without its newline',
      '{}\n{"type":"a","length":0}\n\n{"type":"b","length":0}',
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    ['an item header at the very end', '{}\n{"type":"attachment"}', [['attachment', '']]],
    ['a payload that is no text', '{}\n{"type":"a","length":4}\n\n\n{}\n', [['a', '\n\n{}']]],
    [
      'a payload that looks like an item',
      '{}\n{"type":"a","length":14}\n{"type":"b"}\n1\n',
      [['a', '{"type":"b"}\n1']],
    ],
    ['a type nobody knows', '{}\n{"type":"tomorrow"}\nx', [['tomorrow', 'x']]],
    [
      'empty lines between items',
      '{}\n\n{"type":"a","length":1}\nx\n\n\n{"type":"b"}\ny\n\n',
      [
        ['a', 'x'],
        ['b', 'y'],
      ],
    ],
  ] as const)('%s', ([, text, items]) => {
    expect(itemsOf(text)).toEqual(items)
  })
})

describe('what is no envelope is refused', () => {
  const long = `{"x":"${'x'.repeat(MAX_HEADER_BYTES)}"}`
  test.for([
    ['nothing', '', 400],
    ['an empty line', '\n{}', 400],
    ['no JSON', 'hello', 400],
    ['no object', '[]\n', 400],
    ['null', 'null\n', 400],
    ['half a header', '{"a":\n', 400],
    ['an item without a type', '{}\n{"length":1}\nx', 400],
    ['an item whose type is no text', '{}\n{"type":1}\nx', 400],
    ['an item header that is no JSON', '{}\nhello\n', 400],
    ['a length beyond the end', '{}\n{"type":"a","length":5}\nhell', 400],
    ['a length before the end of the line', '{}\n{"type":"a","length":3}\nhello\n', 400],
    ['a negative length', '{}\n{"type":"a","length":-1}\nx', 400],
    ['a broken length', '{}\n{"type":"a","length":1.5}\nx', 400],
    ['a length in words', '{}\n{"type":"a","length":"1"}\nx', 400],
    ['a length that is true', '{}\n{"type":"a","length":true}\nx', 400],
    ['a length in a list', '{}\n{"type":"a","length":[1]}\nx', 400],
    ['a length that is an object', '{}\n{"type":"a","length":{}}\nx', 400],
    ['a length beyond all memory', '{}\n{"type":"a","length":1e308}\nx', 400],
    ['a header line that is too long', long, 413],
    ['an item header that is too long', `{}\n${long.replace('{', '{"type":"a",')}\n`, 413],
    ['too many items', `{}\n${'{"type":"a"}\n\n'.repeat(MAX_ITEMS + 1)}`, 413],
  ] as const)('%s', ([, text, status]) => {
    expect(refusal(text)).toBe(status)
  })

  test('bytes that are no UTF-8 in a header', () => {
    expect(refusal(Buffer.from('{"a":"\xff"}\n', 'latin1'))).toBe(400)
  })

  test('a header that is nested without end, whichever side notices', () => {
    const depth = 30_000
    const bytes = Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}\n{"type":"a"}\nx`)
    const statuses = [200, 400]
    expect(statuses).toContain(refusal(bytes))
    try {
      serializeEnvelope(parseEnvelope(bytes))
    } catch (error) {
      expect(error).toBeInstanceOf(EnvelopeError)
    }
  })
})

test('a header and an item at their bounds are taken', () => {
  const header = `{"x":"${'x'.repeat(MAX_HEADER_BYTES - 8)}"}`
  expect(Buffer.byteLength(header)).toBe(MAX_HEADER_BYTES)
  expect(refusal(`${header}\n${'{"type":"a"}\n\n'.repeat(MAX_ITEMS)}`)).toBe(200)
})

const anyHeader = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
const anyItem = fc.record({
  type: fc.string({ minLength: 1 }),
  header: anyHeader,
  payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
})

test('whatever is written is read back, payloads byte for byte', () => {
  fc.assert(
    fc.property(anyHeader, fc.array(anyItem, { maxLength: 6 }), (header, given) => {
      const items = given.map(({ type, header: own, payload }) => ({ type, header: { ...own, type }, payload }))
      const read = parseEnvelope(serializeEnvelope({ header, items }))
      expect(JSON.stringify(read.header)).toBe(JSON.stringify(header))
      expect(read.items.map(({ type, payload }) => [type, payload.toString('hex')])).toEqual(
        items.map(({ type, payload }) => [type, payload.toString('hex')]),
      )
      read.items.forEach(({ header: own }, at) => {
        expect(own['length']).toBe(items[at]?.payload.length)
      })
    }),
  )
})

test('any bytes are read or refused, and what is read says the same when it is written', () => {
  const pieces = fc.constantFrom(
    '{}',
    '\n',
    '{"type":"a"}',
    '{"type":"a","length":3}',
    'abc',
    '\r',
    '\0',
    '{',
    '"',
    '\xff',
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.array(pieces, { maxLength: 12 }).map((parts) => Buffer.from(`{}\n${parts.join('')}`, 'latin1')),
  )
  fc.assert(
    fc.property(bytes, (given) => {
      if (refusal(given) !== 200) return
      const written = serializeEnvelope(parseEnvelope(given))
      expect(itemsOf(written)).toEqual(itemsOf(given))
      expect(serializeEnvelope(parseEnvelope(written))).toEqual(written)
    }),
    { numRuns: 1_000 },
  )
})
