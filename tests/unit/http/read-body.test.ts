import { describe, expect, test } from 'vitest'
import { bodyKind } from '../../../src/server/http/body/body-kind.ts'
import { parseCheckedJson } from '../../../src/server/http/body/checked-json.ts'
import { cpuRatio } from '../../support/cpu-ratio.ts'
import { AMPLE, disposition, FINAL, MULTIPART, part, statusOf, takeBody, URLENCODED } from './body-server.ts'

type Faulty = readonly [title: string, type: string, body: string | Uint8Array, status: number | 'taken']

const JSON_TYPE = 'application/json'
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('a body is taken or refused', () => {
  test.for<Faulty>([
    ['a form', URLENCODED, 'a=1&b=%C3%A4+x', 'taken'],
    ['nothing at all', URLENCODED, '', 'taken'],
    ['a percent sign alone', URLENCODED, 'a=%', 400],
    ['a percent sign without digits', URLENCODED, 'a=%zz', 400],
    ['half a character', URLENCODED, 'a=%E4', 400],
    ['an overlong character', URLENCODED, 'a=%c0%ae', 400],
    ['bytes that are no UTF-8', URLENCODED, new Uint8Array([0x61, 0x3d, 0xff]), 400],
    ['a field without a name', URLENCODED, '=x', 400],
    ['a long name', URLENCODED, `${'a'.repeat(201)}=1`, 400],
    ['a name that is long when encoded only', URLENCODED, `${'%61'.repeat(200)}=1`, 'taken'],
    ['a thousand fields', URLENCODED, 'a=&'.repeat(1_000), 'taken'],
    ['a thousand and one', URLENCODED, 'a=&'.repeat(1_001), 413],
    ['separators only', URLENCODED, '&'.repeat(100_000), 'taken'],
    ['JSON', JSON_TYPE, '{"a":[1,"]]]"]}', 'taken'],
    ['no JSON', JSON_TYPE, '{', 400],
    ['an empty text', JSON_TYPE, '', 400],
    ['JSON that is no UTF-8', JSON_TYPE, new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['32 levels', JSON_TYPE, deep(32), 'taken'],
    ['33 levels', JSON_TYPE, deep(33), 400],
    ['a hundred thousand levels', JSON_TYPE, deep(100_000), 400],
    ['as many, never closed', JSON_TYPE, '{"a":'.repeat(100_000), 400],
    ['brackets in a text', JSON_TYPE, `"${'['.repeat(100)}\\"${'{'.repeat(100)}"`, 'taken'],
    ['__proto__', JSON_TYPE, '{"a":[{"__proto__":1}]}', 400],
    ['__proto__ by escapes', JSON_TYPE, String.raw`{"\u005f_proto__":1}`, 400],
    ['constructor', JSON_TYPE, '{"constructor":{"prototype":{}}}', 400],
    ['prototype', JSON_TYPE, '[{"prototype":1}]', 400],
    ['the same as texts', JSON_TYPE, '["__proto__","constructor",{"a":"prototype"}]', 'taken'],
    ['parts', MULTIPART, part(disposition('a'), '1') + FINAL, 'taken'],
    ['a quoted boundary', 'multipart/form-data; boundary="x"', part(disposition('a'), '1') + FINAL, 'taken'],
    ['no boundary in the header', 'multipart/form-data', part(disposition('a'), '1') + FINAL, 400],
    [
      'no boundary, and its name in the body',
      'multipart/form-data',
      '--undefined\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--undefined--\r\n',
      400,
    ],
    ['no final boundary', MULTIPART, part(disposition('a'), '1'), 400],
    ['a part that is no field', MULTIPART, part('X: 1', '1') + FINAL, 400],
    ['a field that is no UTF-8', MULTIPART, Buffer.from(part(disposition('a'), '\xff') + FINAL, 'latin1'), 400],
    ['a thousand and one parts', MULTIPART, part(disposition('a'), '').repeat(1_001) + FINAL, 413],
    ['another kind', 'text/plain', 'a=1', 415],
    ['another character set', `${URLENCODED}; charset=iso-8859-1`, 'a=1', 415],
  ])('%s', async ([, type, body, status]) => {
    for (const streamed of [false, true]) expect(statusOf(await takeBody(type, body, { streamed }))).toBe(status)
  })

  test('a compressed body is not unpacked', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    expect(statusOf(await takeBody(URLENCODED, 'a=1', { headers }))).toBe(415)
    expect(statusOf(await takeBody(URLENCODED, 'a=1', { headers: { 'Content-Encoding': 'identity' } }))).toBe('taken')
  })

  test('the kind is the one that is told before anything is read', async () => {
    for (const type of ['application/json\t;x', 'application/json;', 'APPLICATION/JSON ; charset=x']) {
      const status = statusOf(await takeBody(type, '{}'))
      expect(status === 415).toBe(bodyKind(type) === undefined)
    }
  })
})

describe('limits', () => {
  test('a declared length over the limit is refused before a byte is read', async () => {
    const taken = await takeBody(URLENCODED, 'a=1', { bytes: 10, headers: { 'Content-Length': '11' } })
    expect(taken).toMatchObject({ fault: { status: 413, limit: { name: 'bytes', maximum: 10 } } })
  })

  test('a body of unknown length is counted while it comes', async () => {
    const chunked = (size: number) => `${size.toString(16)}\r\na=${'x'.repeat(size - 2)}\r\n0\r\n\r\n`
    const send = (body: string) =>
      takeBody(URLENCODED, body, { bytes: 100, headers: { 'Content-Length': '', 'Transfer-Encoding': 'chunked' } })
    expect(statusOf(await send(chunked(100)))).toBe('taken')
    expect(statusOf(await send(chunked(101)))).toBe(413)
  })

  test('files are bounded by number and by size, and an empty field for files is no file', async () => {
    const files = (contents: readonly string[]) => contents.map((text) => part(disposition('f', 'n'), text)).join('')
    const limits = { files: 2, fileBytes: 3 }
    expect(statusOf(await takeBody(MULTIPART, files(['abc', 'def']) + FINAL, limits))).toBe('taken')
    expect(statusOf(await takeBody(MULTIPART, files(['a', 'b', 'c']) + FINAL, limits))).toBe(413)
    expect(statusOf(await takeBody(MULTIPART, files(['abcd']) + FINAL, limits))).toBe(413)
    const empty = part(disposition('g', ''), '').repeat(5)
    expect(statusOf(await takeBody(MULTIPART, empty + files(['abc', 'def']) + FINAL, limits))).toBe('taken')
  })

  test('what is held in memory beside streamed files is bounded too', async () => {
    const limits = { ...AMPLE, bytes: 1e9, streamed: true }
    const large = 'x'.repeat(1_048_577)
    for (const [type, body] of [
      [URLENCODED, `a=${large}`],
      ['application/json', `"${large}"`],
      [MULTIPART, part(disposition('a'), large) + FINAL],
      [MULTIPART, part(disposition('a'), large.slice(600_000)).repeat(3) + FINAL],
    ] as const) {
      expect(statusOf(await takeBody(type, body, limits))).toBe(413)
    }
  })
})

test('a file without a final boundary behind it is refused', async () => {
  expect(statusOf(await takeBody(MULTIPART, part(disposition('a', 'f'), '1')))).toBe(400)
})

test.each([
  '1e999',
  '[-1E+400]',
  `{"a":${'9'.repeat(310)}}`,
  `${'9'.repeat(299)}e10`,
  `[-1${'0'.repeat(210)}E+99]`,
  `{"a":${'9'.repeat(210)}.5e99}`,
  `${'9'.repeat(301)}e8`,
])('%s is refused: it would be infinite', (text) => {
  expect(() => parseCheckedJson(text)).toThrow(expect.objectContaining({ status: 400 }))
})

test.each(['1e308', '1e-999', '"1e999"', '{"1e999":1}', '9'.repeat(300), `${'9'.repeat(209)}e99`])(
  '%s is read as what it says',
  (text) => {
    expect(parseCheckedJson(text)).toEqual(JSON.parse(text))
  },
)

test.for([
  ['numbers', (count: number) => `[${'1,'.repeat(count - 2)}1]`],
  ['empty objects', (count: number) => `[${'{},'.repeat((count - 3) / 2)}1]`],
  ['deep lists', (count: number) => `[${'[[[1]]],'.repeat(Math.floor((count - 2) / 4))}1]`],
] as const)('50,000 values may be sent in JSON, and no more: %s', ([, make]) => {
  expect(parseCheckedJson(make(49_999))).toBeInstanceOf(Array)
  const limit = { name: 'jsonValues', maximum: 50_000 }
  expect(() => parseCheckedJson(make(50_005))).toThrow(expect.objectContaining({ status: 413, limit }))
})

test('a body that may be larger may hold a value for each 20 bytes', async () => {
  const text = `[${'1,'.repeat(80_000)}1]`
  for (const [bytes, status] of [
    [1_048_576, 413],
    [2_000_000, 'taken'],
  ] as const) {
    expect(statusOf(await takeBody(JSON_TYPE, text, { bytes }))).toBe(status)
  }
})

test('JSON keeps what it says', () => {
  expect(parseCheckedJson(String.raw`{"a":["\"[{",{"\u0061":null}],"b":1e3}`)).toEqual({
    a: ['"[{', { a: null }],
    b: 1000,
  })
})

test('digits that are almost a forbidden number cost what other characters do', () => {
  const listOf = (item: string): string => `["${item.repeat(1_000)}"]`
  const digits = listOf(`${'1'.repeat(199)}x`)
  const letters = listOf(`${'a'.repeat(199)}x`)
  expect(
    cpuRatio(
      () => parseCheckedJson(digits),
      () => parseCheckedJson(letters),
    ),
  ).toBeLessThan(8)
})
