/** Replays H that are no body: headers and URLs made to cost time or memory, readers that do not read. See `README.md`. */
import { beforeAll, describe, expect, test } from 'vitest'
import { connectRaw, getRequest, type RawConnection } from '../../support/raw-http.ts'
import { replayServer, SIGN, SIGNATURE, steadyText } from '../../support/replay-server.ts'

const site = replayServer()
const PAGE = '/lab/params/x'
const ENDPOINTS = [
  '/',
  PAGE,
  `/_m/data${PAGE}`,
  '/_m/build.json',
  '/_m/assets/none',
  '/robots.txt',
  '/healthz',
  '/nope',
]

const SLOW_MS = 30_000 // header time-out of 12 s, looked at every 5 s; body silence of 10 s
const SLOW = [
  'GET / HTTP/1.1\r\nHost: local',
  'GE',
  `POST /lab/guestbook?_action=${SIGN}.1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname=`,
  `POST /_m/data/lab/guestbook?_action=${SIGN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"inp\r\n`,
]
const slow: Promise<unknown>[] = []

// For H18, at the end: everybody else is served meanwhile.
beforeAll(() => {
  for (const bytes of SLOW) slow.push(untilLost(bytes))
})

/** Sends the start of a request and nothing more. */
async function untilLost(bytes: string): Promise<unknown> {
  const connection = await site.connect()
  await connection.send(bytes)
  const { status, header } = await connection.response()
  return [bytes, status, header('connection'), (await connection.end()).rest.length]
}

test.for([
  ['Next-Resume', '1'],
  ['Next-Action', 'x'],
  ['X-Action-Rerouting', '1'],
  ['X-SvelteKit-Action', '1'],
  ['X-Millrace-Resume', '1'],
] as const)('H2 %s makes no page take a POST', async ([name, value]) => {
  for (const target of ['/', PAGE, '/lab', '/lab/stream']) {
    const answer = await site.post(target, SIGNATURE, { [name]: value })
    expect([answer.status, answer.header('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await site.post(target, '[]', { [name]: value, 'Content-Type': 'text/plain' })).status).toBeOneOf([
      405, 415,
    ])
  }
})

test('H8 every URL is bounded in length', async () => {
  for (const prefix of ['', '/_m/data', '/_m/assets']) {
    expect((await site.get(`${prefix}/lab/params/${'a'.repeat(8_200)}`)).status).toBe(414)
    expect((await site.get(`${prefix}/lab/params/x?${'a'.repeat(8_200)}`)).status).toBe(414)
    expect((await site.get(`${prefix}/lab/params/${'a'.repeat(20_000)}`)).status).toBe(431)
  }
})

const LONG = 15_000

describe('H9 long headers are read in time that grows with them', () => {
  test.for([
    ['Accept', 'a'.repeat(LONG)],
    ['Accept', 'text/html;q=0.1,'.repeat(LONG / 16)],
    ['Accept-Language', 'a;q=0.1,'.repeat(LONG / 8)],
    ['Accept-Encoding', 'gzip;q=0.1,'.repeat(LONG / 11)],
    ['Accept-Encoding', ' '.repeat(LONG)],
    ['Accept-Encoding', `gzip${' '.repeat(LONG)};q=x`],
    ['Cookie', '=;'.repeat(LONG / 2)],
    ['Cookie', `a=${'%'.repeat(LONG)}`],
    ['Cookie', `__Host-lab=${'a.'.repeat(LONG / 2)}`],
    ['Cookie', `__Host-lab=${'a'.repeat(LONG)}`],
    ['If-None-Match', '"a",'.repeat(LONG / 4)],
    ['If-None-Match', `W/"${'a'.repeat(LONG)}`],
    ['If-None-Match', ','.repeat(LONG)],
    ['If-Modified-Since', '9'.repeat(LONG)],
    ['Range', `bytes=${'0-,'.repeat(LONG / 3)}`],
    ['Range', `bytes=${'9'.repeat(LONG)}-`],
    ['User-Agent', 'bot('.repeat(LONG / 4)],
    ['User-Agent', 'a/'.repeat(LONG / 2)],
    ['X-Forwarded-For', '1.1.1.1,'.repeat(LONG / 8)],
    ['Content-Type', `application/json;${' '.repeat(LONG)}`],
    ['Content-Type', `multipart/form-data;${'a=b;'.repeat(LONG / 4)}`],
    ['Content-Type', `multipart/form-data; boundary="${'\\'.repeat(LONG)}`],
    ['Sec-Fetch-Site', 'a'.repeat(LONG)],
    ['Origin', `http://${'a.'.repeat(LONG / 2)}`],
    ['Origin', `http://${'*.'.repeat(LONG / 2)}`],
    ['Expect', 'a'.repeat(100)],
  ] as const)('%s, case %#', async ([name, value]) => {
    const [entry = ''] = /\/_m\/assets\/[\w.-]+\.js/.exec((await site.get('/')).text) ?? []
    for (const target of [...ENDPOINTS, entry, '/lab/private']) {
      expect((await site.get(target, { [name]: value })).status).toBeLessThan(500)
    }
    expect((await site.sign({ [name]: value }, 'name=&message=')).status).toBeOneOf([400, 403, 415, 417, 422])
  })

  test('a header beyond the limit is 431, and many small ones are no more', async () => {
    expect((await site.get(PAGE, { Accept: 'a'.repeat(200_000) })).status).toBe(431)
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`a${at}`, '1']))
    expect((await site.get(PAGE, many)).status).toBeOneOf([200, 431])
  })
})

test.for([
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['hasOwnProperty', 'x'],
  ['toString', 'x'],
  ['__defineGetter__', 'x'],
] as const)('H11 a header named %s is a header', async (header) => {
  const headers = Object.fromEntries([header])
  const lines = `Host: localhost\r\n${header.join(': ')}\r\n${header.join(': ')}\r\n`
  for (const target of ENDPOINTS) {
    const plain = await site.get(target)
    expect(steadyText(await site.send(`GET ${target} HTTP/1.1\r\n${lines}\r\n`))).toBe(steadyText(plain))
  }
  expect((await site.sign(headers, 'name=&message=')).status).toBe(422)
})

test.for([
  { baggage: 'sentry-trace_id=%4Z' },
  { baggage: 'a=%3G' },
  { baggage: `${'a=b,'.repeat(3_000)}` },
  { 'sentry-trace': 'zz' },
  { 'sentry-trace': `${'a'.repeat(32)}-${'b'.repeat(16)}-9` },
  { traceparent: '00-00000000000000000000000000000000-0000000000000000-00' },
  { traceparent: 'ff-x' },
  { tracestate: 'a=b,'.repeat(3_700) },
  { Cookie: 'a=%E0%A4' },
  { Cookie: '__Host-lab=%E0%A4; __Host-lab.flash=%' },
  { Cookie: '\u00ff\u00fe=\u0080' },
  { Referer: 'http://%/' },
  { 'X-Request-Id': '%0a"}{' },
])('H14 a header that a library may choke on is harmless: %j', async (headers) => {
  for (const target of [...ENDPOINTS, '/lab/session', '/lab/guestbook']) {
    expect((await site.get(target, headers)).status).toBe((await site.get(target)).status)
  }
})

test('H20 the log stays one line of JSON a request, whatever the request says', async () => {
  const seen = site.server.stdout.length
  const forged = Buffer.from('a\r\nGET /fake HTTP/1.1:b').toString('base64')
  const headers = {
    Authorization: `Basic ${forged}`,
    'User-Agent': '\u009b2Jevil',
    Referer: 'http://evil.test/"}\u0085{"level":60',
    'X-Request-Id': '\u009b31m',
  }
  for (const target of [
    '/lab/params/%22%7d',
    '/lab/params/%1b',
    '/fake%0a{"level":60}',
    '/lab/params/%E2%80%A8',
    '/%',
  ]) {
    await site.get(target, headers)
  }
  const broken = ['GET /\u001b[31m', '\u001b[31mGET /', 'GET / HTTP/1.1\r\nUser-Agent: \u001b[2Jevil\r\nX: ']
  for (const start of broken) expect((await site.send(`${start} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).status).toBe(400)
  const lines = (): readonly string[] => site.server.stdout.slice(seen)
  await expect.poll(() => lines().join('\n'), { timeout: 5_000 }).toContain('undecodable percent sequence')
  for (const line of lines()) {
    expect(Object.keys(JSON.parse(line) as object)).not.toContain('headers')
    // oxlint-disable-next-line no-control-regex -- escape sequences are what the test looks for
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]|fake|evil/)
  }
})

describe('H17 readers that do not read', () => {
  const READERS = 30
  const BIG = '/lab/bench/table?n=10000'
  test('cost a bounded amount of memory each, and none when they have gone', async () => {
    const whole = (await site.get(BIG)).body.length
    expect(whole).toBeGreaterThan(1_000_000)
    const before = await site.probe()
    const readers: RawConnection[] = []
    for (let at = 0; at < READERS; at += 1) {
      const reader = await connectRaw(site.server.port)
      readers.push(reader)
      await reader.send(getRequest(at % 2 === 0 ? BIG : `/_m/data${BIG}`))
      expect((await reader.receive(15)).toString()).toBe('HTTP/1.1 200 OK')
    }
    expect((await site.get(PAGE)).status).toBe(200)
    for (const { socket } of readers) socket.resetAndDestroy()
    const sockets = async (): Promise<number> => (await site.probe()).resources['TCPSocketWrap'] ?? 0
    await expect.poll(sockets, { timeout: 10_000 }).toBeLessThanOrEqual(before.resources['TCPSocketWrap'] ?? 0)
    const after = await site.probe()
    const held = after.heapUsed + after.external - before.heapUsed - before.external
    expect(held).toBeLessThan((READERS * whole) / 10)
  })
})

test('H18 clients that are slow on purpose get 408 and lose the connection', { timeout: SLOW_MS }, async () => {
  expect(await Promise.all(slow)).toEqual(SLOW.map((bytes) => [bytes, 408, 'close', 0]))
})
