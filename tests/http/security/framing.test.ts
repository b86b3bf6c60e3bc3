/** Replays I: requests that two servers would end at different places, whole and split at every byte. See `README.md`. */
import { describe, expect, test } from 'vitest'
import type { RawConnection } from '../../support/raw-http.ts'
import { chunked } from '../../support/hostile-bodies.ts'
import { postRequest, replayServer, SIGN, SIGNATURE } from '../../support/replay-server.ts'

const site = replayServer()
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
const FORM = `/lab/guestbook?_action=${SIGN}.1`

/**
 * Whether a connection is still in step, or properly closed: an answer too many would come before the one asked for.
 * @returns `closed` or `in step`.
 */
async function standing(connection: RawConnection): Promise<'closed' | 'in step' | 'out of step'> {
  await connection.send(HEALTH)
  const answer = await connection.response().catch(() => undefined)
  if (answer === undefined) return 'closed'
  return answer.status === 200 && answer.text === 'ok\n' ? 'in step' : 'out of step'
}

/** One broken request; it gets one 4xx, and nothing after it is taken for a request. */
async function expectRefused(bytes: string): Promise<void> {
  for (const every of [bytes.length, 1]) {
    const connection = await site.connect()
    await connection.send(bytes, { every })
    // Whoever goes on sending behind a refusal may find the connection reset, and the refusal gone with it.
    const answer = await connection.response().catch((error: unknown) => {
      if (every > 1) throw error
    })
    const status = answer?.status ?? 400
    expect([bytes, status]).toEqual([bytes, expect.toBeOneOf([400, 404, 405, 408, 411, 413, 417, 431, 501, 505])])
    const after = await connection.end()
    expect([bytes, after.rest.toString('latin1')]).toEqual([bytes, ''])
  }
}

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Lines between the request line and the empty line, and what follows it. */
const FRAMINGS: readonly (readonly [name: string, lines: string, body: string])[] = [
  ['a length after a space', ' Content-Length: 5', `hello${SMUGGLED}`],
  ['a length with a space before the colon', 'Content-Length : 5', `hello${SMUGGLED}`],
  ['a length with a tab before the colon', 'Content-Length\t: 5', `hello${SMUGGLED}`],
  ['a folded coding', 'Transfer-Encoding:\r\n chunked', `0\r\n\r\n${SMUGGLED}`],
  ['a folded length', 'Content-Length: 5\r\n 0', `hello${SMUGGLED}`],
  ['a bare LF', 'X: 1\nContent-Length: 5', `hello${SMUGGLED}`],
  ['a bare CR', 'X: 1\rContent-Length: 5', `hello${SMUGGLED}`],
  ['a break that is not whole', 'X: 1\r\n\rX', SMUGGLED],
  ['a NUL in a value', 'X: a\0b', SMUGGLED],
  ['a header without a name', ': a', SMUGGLED],
  ['a header without a colon', 'novalue', SMUGGLED],
  ['a name that is no token', 'a b: c', SMUGGLED],
  ['a length and a coding', 'Content-Length: 5\r\nTransfer-Encoding: chunked', `0\r\n\r\n${SMUGGLED}`],
  ['a coding and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5', `0\r\n\r\n${SMUGGLED}`],
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6', `hello!${SMUGGLED}`],
  ['two equal lengths', 'Content-Length: 5\r\nContent-Length: 5', `hello${SMUGGLED}`],
  ['a list of lengths', 'Content-Length: 5, 5', `hello${SMUGGLED}`],
  ['a length with a plus', 'Content-Length: +5', `hello${SMUGGLED}`],
  ['a length with a minus', 'Content-Length: -5', SMUGGLED],
  ['a length of two numbers', 'Content-Length: 5 5', `hello${SMUGGLED}`],
  ['a hexadecimal length', 'Content-Length: 0x5', `hello${SMUGGLED}`],
  ['a length with a point', 'Content-Length: 5.0', `hello${SMUGGLED}`],
  ['an empty length', 'Content-Length: ', SMUGGLED],
  ['a length beyond all numbers', `Content-Length: ${'9'.repeat(30)}`, SMUGGLED],
  ['a length of other digits', 'Content-Length: \u00b2', SMUGGLED],
  ['codings after chunked', 'Transfer-Encoding: chunked, identity', `0\r\n\r\n${SMUGGLED}`],
  ['a coding of another name', 'Transfer-Encoding: xchunked', `0\r\n\r\n${SMUGGLED}`],
  ['a coding in quotes', 'Transfer-Encoding: "chunked"', `0\r\n\r\n${SMUGGLED}`],
  ['a coding behind a control character', 'Transfer-Encoding: \u000bchunked', `0\r\n\r\n${SMUGGLED}`],
  ['a coding that nobody knows', 'Transfer-Encoding: gzip', `0\r\n\r\n${SMUGGLED}`],
  ['a chunk size with a sign', 'Transfer-Encoding: chunked', `+5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk size with 0x', 'Transfer-Encoding: chunked', `0x5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`],
  [
    'a chunk size beyond all numbers',
    'Transfer-Encoding: chunked',
    `${'f'.repeat(20)}\r\nhello\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['a chunk that is longer than it says', 'Transfer-Encoding: chunked', `5\r\nhello world\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk size that ends in LF', 'Transfer-Encoding: chunked', `5\nhello\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk size that is none', 'Transfer-Encoding: chunked', `hello\r\n0\r\n\r\n${SMUGGLED}`],
  ['a coding twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', `0\r\n\r\n${SMUGGLED}`],
  ['a coding with a parameter', 'Transfer-Encoding: chunked;q=0.1', `0\r\n\r\n${SMUGGLED}`],
  ['an empty coding and a length', 'Transfer-Encoding: \r\nContent-Length: 5', `hello${SMUGGLED}`],
  ['an extension that ends in LF', 'Transfer-Encoding: chunked', `5;x\nhello\r\n0\r\n\r\n${SMUGGLED}`],
  ['an extension that holds a CR', 'Transfer-Encoding: chunked', `5;x\rhello\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk that ends in two letters', 'Transfer-Encoding: chunked', `5\r\nhelloXX0\r\n\r\n${SMUGGLED}`],
  ['a chunk that ends in LF', 'Transfer-Encoding: chunked', `5\r\nhello\n0\r\n\r\n${SMUGGLED}`],
  ['trailers that end in LF', 'Transfer-Encoding: chunked', `0\r\nX: 1\n\n${SMUGGLED}`],
  ['an Expect of two values', 'Expect: y 100-continue\r\nContent-Length: 5', `hello${SMUGGLED}`],
  ['a chunk size after a space', 'Transfer-Encoding: chunked', ` 5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`],
]

describe.for([FORM, '/lab/params/x', '/healthz'])('I3 at %s', (target) => {
  test.for(FRAMINGS)('%s is 400, and closes', async ([, lines, body]) => {
    const type = 'Content-Type: application/x-www-form-urlencoded'
    await expectRefused(`POST ${target} HTTP/1.1\r\nHost: localhost\r\n${type}\r\n${lines}\r\n\r\n${body}`)
  })
})

describe('I7 Hosts and versions', () => {
  test.for([
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a,b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
    'GET / HTTP/2.0\r\nHost: a\r\n\r\n',
    'GET / HTTP/0.9\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.2\r\nHost: a\r\n\r\n',
    'GET / HTTP/11\r\nHost: a\r\n\r\n',
    'GET / HTTPS/1.1\r\nHost: a\r\n\r\n',
    'GET / ICE/1.0\r\nHost: a\r\n\r\n',
    'GET / http/1.1\r\nHost: a\r\n\r\n',
    'GET /\r\n\r\n',
    'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1 \r\nHost: a\r\n\r\n',
    'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET http://evil.test/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET http:///x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET ftp://a/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET ?a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET /# HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'BREW / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'get / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\0\0\0\0\r\n\r\n',
    '{"a":1}\r\n\r\n',
  ])('%j gets one refusal', async (bytes) => {
    site.permit(505)
    // Where nothing of HTTP is wrong the connection stays; then it was asked to close.
    const asked = bytes.includes('Connection: close') || !/^GET \/ HTTP\/1\.1\r\n(?:\r\n|Host)/.test(bytes)
    await expectRefused(asked ? bytes : bytes.replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'))
  })

  test('CONNECT opens no tunnel, and an upgrade that nobody offers is a plain request', async () => {
    const tunnel = await site.connect()
    await tunnel.send('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n')
    expect((await tunnel.end()).rest.toString('latin1')).not.toMatch(/^HTTP\/1\.1 2/)
    for (const protocol of ['websocket', 'h2c', 'TLS/1.0']) {
      const headers = `Upgrade: ${protocol}\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA`
      const connection = await site.connect()
      await connection.send(`GET /lab/params/x HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`)
      expect((await connection.response()).status).toBe(200)
      expect(await standing(connection)).toBe('in step')
      connection.socket.destroy()
    }
  })
})

describe('I7 answers without a body', () => {
  test.for([
    ['HEAD', '/lab/params/x', {}, 200],
    ['HEAD', '/lab/stream?delay=50', {}, 200],
    ['HEAD', '/_m/data/lab/params/x', {}, 200],
    ['HEAD', '/nope', {}, 404],
    ['HEAD', '/lab/redirect/temporary', {}, 307],
    ['HEAD', '/robots.txt', {}, 200],
    ['HEAD', '/healthz', {}, 200],
    ['HEAD', '/_m/assets/none', {}, 404],
    ['OPTIONS', '/lab/params/x', {}, 204],
    ['OPTIONS', '/_m/data/lab/params/x', {}, 204],
    ['OPTIONS', '/robots.txt', {}, 204],
    ['GET', '/lab/params/x', { 'If-None-Match': '*' }, 304],
  ] as const)('%s %s has none', async ([method, target, headers, status]) => {
    const connection = await site.connect()
    const lines = Object.entries(headers).map((header) => `${header.join(': ')}\r\n`)
    await connection.send(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n`)
    const answer = await connection.response({ head: method === 'HEAD' })
    expect(answer.status).toBe(status)
    expect(await standing(connection)).toBe('in step')
    connection.socket.destroy()
  })

  test('304 has none either', async () => {
    const etag = (await site.get('/lab/params/x')).header('etag') ?? ''
    const connection = await site.connect()
    await connection.send(`GET /lab/params/x HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: ${etag}\r\n\r\n`)
    expect((await connection.response()).status).toBe(304)
    expect(await standing(connection)).toBe('in step')
    connection.socket.destroy()
  })

  test('a refused body is not asked for: Expect: 100-continue gets the refusal at once', async () => {
    const cases = [
      [FORM, { Origin: 'https://evil.test' }, 403],
      [`${FORM.slice(0, -18)}0000000000000000.1`, {}, 404],
      [FORM, { 'Content-Type': 'text/plain' }, 415],
      [FORM, { 'Content-Length': '99999999' }, 413],
      ['/lab/params/x', { 'Content-Type': 'text/plain' }, 405],
    ] as const
    for (const [target, headers, status] of cases) {
      const bytes = postRequest(target, SIGNATURE, { Expect: '100-continue', ...headers })
      const connection = await site.connect()
      await connection.send(bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4))
      const answer = await connection.response()
      expect([target, answer.status, answer.interim]).toEqual([target, status, []])
      connection.socket.destroy()
    }
  })

  test('a body that is welcome is asked for', async () => {
    const bytes = postRequest(FORM, SIGNATURE, { Expect: '100-continue' })
    const end = bytes.indexOf('\r\n\r\n') + 4
    const connection = await site.connect()
    await connection.send(bytes.subarray(0, end))
    expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 100')
    await connection.receive('Continue\r\n\r\n'.length + 1)
    await connection.send(bytes.subarray(end))
    expect((await connection.response()).status).toBe(303)
    connection.socket.destroy()
    site.expectChanges(1)
  })
})

describe('I6 a refusal that comes before the body', () => {
  const foreign = { Origin: 'https://evil.test' }
  const cases = [
    ['403 of a form', FORM, foreign],
    ['403 of a call', `/_m/data/lab/guestbook?_action=${SIGN}`, foreign],
    ['404', '/lab/guestbook?_action=0000000000000000.1', {}],
    ['404 of a call', '/_m/data/lab/guestbook?_action=0000000000000000', {}],
    ['405', '/lab/params/x', {}],
    ['405 of an asset', '/_m/assets/none', {}],
    ['405 of health', '/healthz', {}],
    ['405 of data', '/_m/data/lab/params/x', {}],
    ['409', `/_m/data/lab/guestbook?_action=${SIGN}`, { 'X-Millrace-Build': 'another' }],
    ['415', FORM, { 'Content-Type': 'text/plain' }],
    ['400', '/%', {}],
    ['308', '//lab', {}],
    ['413', FORM, { 'X-Large': '1' }],
  ] as const

  test.for(cases)(
    '%s leaves the connection in step or closed, with a body that looks like a request',
    async ([, target, headers]) => {
      const bodies = [SMUGGLED, SMUGGLED.repeat(200)]
      if ('X-Large' in headers) bodies.splice(0, 2, SMUGGLED.repeat(30_000))
      for (const body of bodies) {
        const head = postRequest(target, '', headers)
          .toString('latin1')
          .replace(/Content-Length.*\r\n/, '')
          .slice(0, -2)
        for (const bytes of [postRequest(target, body, headers), chunked(head, Buffer.from(body))]) {
          const connection = await site.connect()
          const sending = connection.send(bytes)
          const answer = await connection.response()
          expect(answer.status).toBeGreaterThanOrEqual(300)
          const closes = answer.header('connection') === 'close'
          if (closes) expect((await connection.end()).rest.toString('latin1')).toBe('')
          await sending
          if (!closes) expect(await standing(connection)).toBe('in step')
          connection.socket.destroy()
        }
      }
    },
  )
})

describe('a body that declares to be larger than any that is taken', () => {
  const MULTIPART = 'multipart/form-data; boundary=x'
  const HUGE = '99999999999'
  const begun = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nA'

  test.for([
    ['a form', FORM, 'application/x-www-form-urlencoded', 'n'],
    ['a form with files, of which one byte comes', FORM, MULTIPART, '-'],
    ['a form with files, of which a field comes', FORM, MULTIPART, begun],
    ['a form with files on a page without an action', '/lab/params/x', MULTIPART, begun],
    ['a form with files that names no action', '/lab/guestbook', MULTIPART, '-'],
    ['a form that names no action', '/lab/guestbook', 'application/x-www-form-urlencoded', 'n'],
    ['a call', `/_m/data/lab/guestbook?_action=${SIGN}`, 'application/json', '{'],
    ['a call with files', `/_m/data/lab/guestbook?_action=${SIGN}`, MULTIPART, '-'],
  ] as const)('%s: 413, and nobody waits for the rest', async ([, target, type, body]) => {
    const connection = await site.connect()
    await connection.send(postRequest(target, body, { 'Content-Type': type, 'Content-Length': HUGE }))
    const answer = await connection.response()
    expect(answer.status).toBe(413)
    connection.socket.destroy()
  })
})

test('H15 chunk extensions without end are refused', async () => {
  for (const extension of [`;${'a'.repeat(1_000_000)}`, `;${'a=b;'.repeat(100_000)}`, ';a="'.padEnd(300_000, 'x')]) {
    const head = `POST ${FORM} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n`
    const answer = await site.send(`${head}Transfer-Encoding: chunked\r\n\r\n1${extension}\r\na\r\n0\r\n\r\n`)
    expect(answer.status).toBeOneOf([400, 413])
  }
  const small = '1;x=y\r\nn\r\n'
  const many = await site.send(
    `POST ${FORM} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${small.repeat(20_000)}0\r\n\r\n`,
  )
  expect(many.status).toBeOneOf([400, 413, 422])
})

describe('I9 odd but lawful requests', () => {
  test.for([
    ['empty lines before the request', `\r\n\r\n${HEALTH}`, 200],
    ['a header in capitals', 'GET /healthz HTTP/1.1\r\nHOST: localhost\r\n\r\n', 200],
    ['no space behind the colon', 'GET /healthz HTTP/1.1\r\nHost:localhost\r\n\r\n', 200],
    ['blanks around a value', 'GET /healthz HTTP/1.1\r\nHost: \t localhost \t \r\n\r\n', 200],
    ['an empty value', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX:\r\n\r\n', 200],
    ['bytes above 127 in a value', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: \xe4\xff\r\n\r\n', 200],
    ['an absolute target', 'GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', 200],
    ['a length of zero', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n', 200],
    [
      'a length with zeros in front',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0005\r\n\r\nhello',
      200,
    ],
    ['a GET with a body', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello', 200],
    [
      'chunks with trailers',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ChunKed\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n',
      200,
    ],
    [
      'a Connection of many words',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, x, ,\r\n\r\n',
      200,
    ],
    ['asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 204],
    ['asterisk form of a page', 'GET * HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ] as const)('%s: one answer, also byte by byte', async ([, bytes, status]) => {
    for (const every of [bytes.length, 1]) {
      const connection = await site.connect()
      await connection.send(bytes, { every })
      expect((await connection.response()).status).toBe(status)
      expect(await standing(connection)).toBe('in step')
      connection.socket.destroy()
    }
  })

  test('pipelined requests are answered in order, also when one is slow, refused or has a body', async () => {
    const connection = await site.connect()
    const form = postRequest('/lab/params/x', SMUGGLED).toString('latin1')
    const line = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    await connection.send(line('/lab/slow/50') + line('/lab/params/second') + form + line('/nope') + HEALTH, {
      every: 97,
    })
    const answers = []
    for (let at = 0; at < 5; at += 1) answers.push(await connection.response())
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 405, 404, 200])
    expect(answers[1]?.text).toContain('second')
    expect(answers[4]?.text).toBe('ok\n')
    connection.socket.destroy()
  })

  test('bytes that are no request cut an answer off, and never stand inside of it', async () => {
    for (const target of ['/lab/stream?delay=300', '/_m/data/lab/stream?delay=300']) {
      const connection = await site.connect()
      await connection.send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      const first = await connection.receive(12)
      expect(first.toString()).toBe('HTTP/1.1 200')
      await connection.send('\0garbage\r\n\r\n')
      expect((await connection.end()).rest.toString('latin1')).not.toMatch(/HTTP\/1\.1 400|\r\n0\r\n\r\n$/)
    }
  })

  test('a request that ends early is not acted on', async () => {
    const whole = postRequest(FORM, SIGNATURE)
    for (const length of [1, 20, 60, whole.length - SIGNATURE.length, whole.length - 1]) {
      const connection = await site.connect()
      await connection.send(whole.subarray(0, length))
      connection.socket.end()
      const { rest } = await connection.end()
      expect(rest.toString('latin1')).toMatch(/^(?:|HTTP\/1\.1 4\d\d [\s\S]*)$/)
    }
  })
})
