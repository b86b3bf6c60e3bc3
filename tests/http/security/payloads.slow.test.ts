/** Replays E and the bodies of H: payloads that a parser or decoder chokes on. See `README.md`. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { replayServer, SIGN, type HeaderLines } from '../../support/replay-server.ts'
import { chunked, multipart, type Part } from '../../support/hostile-bodies.ts'

const site = replayServer()
const CALL = `/_m/data/lab/guestbook?_action=${SIGN}`
const FORM = `/lab/guestbook?_action=${SIGN}.1`
const JSON_TYPE = { 'Content-Type': 'application/json' }

const callJson = (body: string, headers: HeaderLines = {}) => site.post(CALL, body, { ...JSON_TYPE, ...headers })

async function sendParts(target: string, parts: readonly Part[], headers: HeaderLines = {}) {
  const { body, type } = multipart(parts)
  return site.post(target, body, { 'Content-Type': type, ...headers })
}

const signatureParts: readonly Part[] = [
  { head: 'name="name"', content: 'Ann' },
  { head: 'name="message"', content: 'hello' },
]

test('control: the same ways with a proper payload are taken', async () => {
  expect((await sendParts(FORM, signatureParts)).status).toBe(303)
  expect((await sendParts(CALL, signatureParts)).status).toBe(200)
  expect((await callJson('{"input":{"name":"Ann","message":"hello"}}')).status).toBe(200)
  site.expectChanges(3)
})

const FLIGHT = {
  prototype:
    '{"then":"$1:__proto__:then","status":"resolved_model","reason":-1,"value":"{\\"then\\":\\"$B1337\\"}",' +
    '"_response":{"_prefix":"throw 1;","_formData":{"get":"$1:constructor:constructor"}}}',
  self: '"$@0"',
  call: '{"id":"child_process#execSync","bound":["id"]}',
}

test.for([
  ['a thenable out of the prototype', [FLIGHT.prototype, '"$@0"']],
  ['a reference to itself', [FLIGHT.self]],
  ['a server reference', [FLIGHT.call, '"$F1"']],
  ['a constructor', ['{"a":"$1:constructor:constructor"}', '{}']],
] as const)('E1 a reply of React server components is nothing here: %s', async ([, models]) => {
  const parts = models.map((content, at) => ({ head: `name="${at}"`, content }))
  // Where the page has actions this is a call of none of them, and elsewhere there is nothing to call.
  const answers = { '/': 405, '/lab': 405, '/lab/guestbook': 404, '/lab/params/x': 405, [FORM]: 422, [CALL]: 422 }
  for (const [target, status] of Object.entries(answers)) {
    for (const headers of [{ 'Next-Action': 'x' }, { 'rsc-action-id': 'x' }, { 'Next-Action': SIGN, RSC: '1' }]) {
      const answer = await sendParts(target, parts, headers)
      expect([target, answer.status]).toEqual([target, status])
    }
  }
  const named = models.map((content, at) => ({ head: `name="1_$ACTION_${at}"`, content }))
  const references = [
    { head: 'name="$ACTION_REF_1"', content: '' },
    { head: 'name="$ACTION_1:0"', content: FLIGHT.call },
  ]
  expect((await sendParts('/lab/guestbook', [...references, ...named])).status).toBe(404)
  expect((await sendParts(FORM, [...references, ...named])).status).toBe(422)
})

const MANY = 100_000
const GONE_MS = 15_000 // a body without a byte is given up after 10 s, if nothing else tells that its client has gone

describe('E2 E5 values that cost far more than their bytes', () => {
  test.for([
    ['arrays in arrays', '['.repeat(MANY) + ']'.repeat(MANY)],
    ['objects in objects', '{"a":'.repeat(MANY) + '1' + '}'.repeat(MANY)],
    ['arrays that do not end', '['.repeat(MANY)],
    ['a chain of references', `["${Array.from({ length: 20_000 }, (_, at) => `$${at + 1}`).join('","')}"]`],
    ['a number of a million digits', '1'.repeat(1_000_000)],
    ['a number with a huge exponent', '1e999999999'],
    ['many empty objects', `[${'{},'.repeat(MANY)}{}]`],
    ['many keys', `{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":0`).join()}}`],
    ['equal keys', `{${'"a":1,'.repeat(MANY)}"a":1}`],
    ['a sparse array', '[["Array",4294967295],{"length":4294967295}]'],
    ['a typed array', '{"__type":"Uint8Array","length":-1,"byteLength":1e20}'],
    ['an error of another class', '{"__type":"Error","__subType":"Function","message":"return 1"}'],
    ['an error of a worker', '["Error","Worker","data:text/javascript,1"]'],
    ['a prototype', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
    ['a lone surrogate', '"\\ud800"'],
    ['escapes', `"${'\\u0000'.repeat(50_000)}"`],
  ] as const)('%s: refused as the input, as arguments, as a state and as a whole', async ([, json]) => {
    const bodies = [json, `{"input":${json}}`, `{"args":${json}}`, `{"args":[${json}],"input":{}}`, `{"state":${json}}`]
    for (const body of bodies) expect((await callJson(body)).status).toBeOneOf([400, 413, 422])
    const fields = new URLSearchParams({ $ACTION_ARGS: `[${json}]`, $ACTION_STATE: json, name: '', message: '' })
    for (const headers of [{}, { 'X-Millrace-Once': `once-${'x'.repeat(20)}` }]) {
      expect((await site.post(CALL, String(fields), headers)).status).toBeOneOf([400, 413, 422])
      expect((await site.post(FORM, String(fields), headers)).status).toBeOneOf([400, 413, 422])
    }
  })

  test('bytes that are no UTF-8, no JSON, or another encoding of it', async () => {
    const json = '{"input":{"name":"","message":""}}'
    const bodies = [
      Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
      Buffer.from(json, 'utf16le'),
      Buffer.concat([Buffer.from('\ufeff'), Buffer.from(json)]),
      Buffer.concat([Buffer.from(json), Buffer.from([0])]),
      Buffer.from(`${json}${json}`),
      Buffer.from('undefined'),
      Buffer.from(''),
      Buffer.from('\u2028'),
      Buffer.from([0xc0, 0xaf]),
      Buffer.from([0xed, 0xa0, 0x80]),
    ]
    for (const body of bodies) expect((await site.post(CALL, body, JSON_TYPE)).status).toBeOneOf([400, 422])
  })
})

test('E7 what a visitor sends comes back in time that grows with it, and never recurses', async () => {
  const long = `a${'[b]'.repeat(2_000)}=1`
  const targets = [
    `/lab/filters/${'a/'.repeat(3_000)}a`,
    `/lab/files/${'a/'.repeat(3_000)}a`,
    `/lab/params/x?${long}`,
    `/lab/params/x?${'a=&'.repeat(2_500)}`,
    `/lab/params/x?${'a[]=1&'.repeat(1_200)}`,
  ]
  for (const target of targets) {
    expect((await site.get(target)).status).toBeOneOf([200, 404])
    expect((await site.get(`/_m/data${target}`)).status).toBeOneOf([200, 404])
  }
  expect((await site.get(`/lab/params/x?${'a[b][c]=1&'.repeat(1_000)}`)).status).toBe(414)
})

describe('E8 multipart', () => {
  const file = (head: string): Part => ({ head: `name="f"; ${head}`, content: 'x' })
  test.for([
    ['a field __proto__', [{ head: 'name="__proto__"', content: '1' }]],
    ['a field __proto__ inside of another', [{ head: 'name="a[__proto__][b]"', content: '1' }]],
    ['a field constructor.prototype', [{ head: 'name="constructor.prototype.x"', content: '1' }]],
    ['an empty name', [{ head: 'name=""', content: '1' }]],
    ['no name', [{ head: 'x="y"', content: '1' }]],
    ['no disposition at all', [{ lines: 'Content-Type: text/plain', content: '1' }]],
    ['an undecodable file name', [file("filename*=UTF-8''%E0%A4")]],
    ['a file name of another character set', [file("filename*=UTF-7''+ADw-")]],
    ['a file name of 7 kB', [file(`filename="${'a;'.repeat(3_500)}"`)]],
    ['a file name of quotes', [file(`filename="${'\\"'.repeat(3_000)}"`)]],
    ['a file name that is a path', [file('filename="../../../etc/passwd"')]],
    ['a file name with NUL', [file('filename="a\0.svg"')]],
    ['a name with a line break', [{ head: 'name="a%0d%0aX: y"', content: '1' }]],
    ['names eight hundred levels deep', [{ head: `name="a${'[b]'.repeat(800)}"`, content: '1' }]],
    ['a name of 10 kB', [{ head: `name="${'a'.repeat(10_000)}"`, content: '1' }]],
    ['headers of 1 MB', [{ lines: `X-Filler: ${'a'.repeat(1_000_000)}`, content: '1' }]],
    ['many headers', [{ lines: 'X: y\r\n'.repeat(5_000).trimEnd(), content: '1' }]],
    [
      'a part in base64',
      [{ lines: 'Content-Disposition: form-data; name="name"\r\nContent-Transfer-Encoding: base64', content: 'QW5u' }],
    ],
    [
      'another character set',
      [
        {
          lines: 'Content-Disposition: form-data; name="name"\r\nContent-Type: text/plain; charset=utf-7',
          content: '+ADw-',
        },
      ],
    ],
    ['a thousand and one parts', Array.from({ length: 1_001 }, () => ({ head: 'name="a"', content: '' }))],
    ['a hundred thousand fields', Array.from({ length: 15_000 }, () => ({ head: 'name="a"', content: '' }))],
    [
      'a multipart inside',
      [
        {
          lines: 'Content-Disposition: form-data; name="a"\r\nContent-Type: multipart/mixed; boundary=b',
          content: '--b\r\n\r\n--b--',
        },
      ],
    ],
  ] as const)('%s is refused', async ([, parts]) => {
    for (const target of [FORM, CALL]) expect((await sendParts(target, parts)).status).toBeOneOf([400, 413, 415, 422])
  })

  test('without its final boundary, with another one, or cut off is refused', async () => {
    const { body, type } = multipart(signatureParts)
    const text = body.toString('latin1')
    for (const broken of [
      text.slice(0, -4),
      text.slice(0, -20),
      text.slice(2),
      text.replaceAll('\r\n', '\n'),
      '',
      '\r\n',
    ]) {
      expect((await site.post(FORM, broken, { 'Content-Type': type })).status).toBeOneOf([400, 422])
    }
    for (const boundary of ['other', 'a'.repeat(71), '"', '\u00e9', '.*', '(a+)+$']) {
      const other = `multipart/form-data; boundary=${boundary}`
      expect((await site.post(FORM, body, { 'Content-Type': other })).status).toBeOneOf([400, 415])
    }
  })

  test('given up half-way leaves no file, no socket and no memory behind', { timeout: 2 * GONE_MS }, async () => {
    const { body, type } = multipart([{ head: 'name="file"; filename="x.bin"', content: 'x'.repeat(400_000) }])
    const before = await site.probe()
    const files = readdirSync(site.server.dataDir).toSorted()
    const targets = [FORM, CALL, '/lab/upload', '/lab/session']
    for (let call = 0; call < 40; call += 1) {
      const connection = await site.connect()
      const target = targets[call % targets.length]
      const head = `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}`
      await connection.send(`${head}\r\n\r\n`)
      await connection.send(body.subarray(0, body.length / 2))
      connection.socket.resetAndDestroy()
    }
    await expect
      .poll(async () => (await site.probe()).resources['TCPSocketWrap'] ?? 0, { timeout: GONE_MS })
      .toBeLessThanOrEqual(before.resources['TCPSocketWrap'] ?? 0)
    expect(readdirSync(site.server.dataDir).toSorted()).toEqual(files)
    const after = await site.probe()
    expect(after.arrayBuffers).toBeLessThan(before.arrayBuffers + 4_000_000)
    expect(after.resources['Timeout'] ?? 0).toBeLessThanOrEqual((before.resources['Timeout'] ?? 0) + 2)
  })
})

test('H3 H18 bodies that are begun and never ended hold so much together, and keep no small form away', async () => {
  const COUNT = 120 // a megabyte each, and 64 MiB are held
  site.permit(503)
  const before = await site.probe()
  const head = `POST ${FORM} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n`
  const begun = Buffer.from(`${head}Content-Length: 1048576\r\n\r\nname=${'a'.repeat(1_000_000)}`)
  const connections = await Promise.all(Array.from({ length: COUNT }, () => site.connect()))
  const refused: (string | number | undefined)[][] = []
  for (const connection of connections) {
    void connection.response().then(
      (answer) => refused.push([answer.status, answer.header('retry-after')]),
      () => undefined, // the test ends it
    )
  }
  await Promise.all(connections.map((connection) => connection.send(begun)))
  await expect.poll(() => refused.length, { timeout: GONE_MS }).toBeGreaterThanOrEqual(COUNT - 70)
  expect(new Set(refused.map(String))).toEqual(new Set(['503,1']))
  expect((await site.probe()).arrayBuffers).toBeLessThan(before.arrayBuffers + 90_000_000)
  // What is just being refused still holds the part that has come.
  const small = `name=&message=${'a'.repeat(10_000)}`
  await expect.poll(async () => (await site.post(FORM, small)).status, { timeout: GONE_MS }).toBe(422)
  expect(refused.length).toBeLessThan(COUNT) // the others are held
  for (const { socket } of connections) socket.resetAndDestroy()
  const large = `name=&message=${'a'.repeat(1_000_000)}`
  await expect.poll(async () => (await site.post(FORM, large)).status, { timeout: GONE_MS }).toBe(422)
})

describe('H3 a body over its limit', () => {
  const small = replayServer({ nodeArgs: ['--max-old-space-size=128'] })
  const flood = Buffer.from('{},'.repeat(2_800_000))
  const unknown = '/lab/guestbook?_action=0000000000000000.1'

  test.for([
    [CALL, 413],
    [FORM, 415],
    ['/_m/data/lab/guestbook?_action=0000000000000000', 404],
    [unknown, 404],
    ['/lab/params/x', 405],
  ] as const)('is refused by what its head says: %s', async ([target, status]) => {
    const answer = await small.post(target, flood, JSON_TYPE)
    expect([answer.status, answer.header('connection')]).toEqual([status, 'close'])
  })

  test.for([
    [CALL, 413],
    [FORM, 415],
    [unknown, 404],
  ] as const)('is refused while it comes, without a length: %s', async ([target, status]) => {
    const head = `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
    const answer = await small.send(chunked(head, flood))
    expect([answer.status, answer.header('connection')]).toEqual([status, 'close'])
  })

  test.for(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'])('as %s too', async (type) => {
    const bytes = type.startsWith('multipart')
      ? `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${flood}`
      : flood
    for (const target of [FORM, CALL, '/lab/guestbook']) {
      expect((await small.post(target, bytes, { 'Content-Type': type })).status).toBe(413)
    }
  })
})

test.for([
  ['brackets', `a${'[b]'.repeat(2_000)}=1`],
  ['dots', `a${'.b'.repeat(2_000)}=1`],
  ['parameters', 'a=&'.repeat(30_000)],
  ['empty parameters', '&'.repeat(100_000)],
  ['a list', 'a[]=&'.repeat(20_000)],
  ['a list by index', Array.from({ length: 5_000 }, (_, at) => `a[${at}]=`).join('&')],
  ['a sparse list', 'a[4294967294]=1&a[999999999]=1'],
  ['a negative index', 'a[-1]=1&a[NaN]=1&a[1e9]=1'],
  ['a comma list', `a[]=${'1,'.repeat(40_000)}`],
  ['a long name', `${'a'.repeat(100_000)}=1`],
  ['percent signs', '%'.repeat(100_000)],
  ['bad escapes', 'a=%zz&b=%&c=%e0%a4'],
  ['both a value and an object', 'a=1&a[b]=2&a.c=3'],
  ['equal signs', '='.repeat(100_000)],
] as const)('H6 urlencoded %s', async ([, body]) => {
  for (const target of [FORM, CALL, '/lab/guestbook']) {
    const answer = await site.post(target, body)
    expect(answer.status).toBeOneOf([400, 404, 413, 422])
  }
})

test('H12 nothing that is nested overflows the stack', async () => {
  expect((await site.get(`/lab/files/${'a/'.repeat(50_000)}`)).status).toBeOneOf([414, 431])
  expect((await site.get(`/lab/filters/${'%2f'.repeat(2_600)}`)).status).toBe(200)
  expect((await site.get(`/lab/params/${'('.repeat(7_000)}`)).status).toBe(200)
  expect((await callJson(`{"input":${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}}`)).status).toBe(400)
})
