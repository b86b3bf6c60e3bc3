/** Replays against the relay: where reports go, who may send them, what they may cost. See `README.md`. */
import zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MAX_ENVELOPE_BYTES } from '../../../src/server/reports/relay/read-report-body.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { getRequest } from '../../support/raw-http.ts'
import { replayServer, SECRETS } from '../../support/replay-server.ts'
import { arrivals, envelope, EVENT, lines, newEventId, OWN, RELAY, report, SENTRY_DSN, sink } from './relay-setup.ts'

const MIB = 1_048_576

describe('with a service', () => {
  const site = replayServer({ env: { SENTRY_DSN } })

  test.for([
    ['a host of the sender', (own: number, other: number) => OWN.replace(String(own), String(other)), 403],
    ['two hosts', (own: number, other: number) => `http://public@127.0.0.1:${own}@127.0.0.1:${other}/42`, 403],
    ['a backslash', (own: number, other: number) => `http://public@127.0.0.1:${other}\\@127.0.0.1:${own}/42`, 403],
    ['no protocol', (own: number) => `//public@127.0.0.1:${own}/42`, 403],
    ['another name of the same machine', (own: number) => `http://public@localhost:${own}/42`, 403],
    ['a path that climbs', (own: number) => `http://public@127.0.0.1:${own}/42/../43`, 403],
    ['a query', (own: number) => `http://public@127.0.0.1:${own}/42?x=1`, 403],
    ['an object', () => ({ toString: OWN }), 400],
    ['a list', () => [OWN], 400],
    ['much text', () => `${OWN}${'0'.repeat(60_000)}`, 403],
  ] as const)('C9 an envelope that names %s goes nowhere', async ([, dsn, status]) => {
    const named = dsn(sink.port, site.strangerPort)
    const came = await arrivals(site, async () => {
      expect((await report(site, envelope([EVENT], { dsn: named }))).status).toBe(status)
    })
    expect(came).toEqual([])
  })

  test('C9 nothing but the configuration says where reports go', async () => {
    const id = newEventId()
    const stranger = `http://public@127.0.0.1:${site.strangerPort}/42`
    const header = `{"dsn":"${stranger}","event_id":"${id}","dsn":"${OWN}","tunnel":"${stranger}"}`
    const item = `{"type":"event","dsn":"${stranger}","length":2}`
    const came = await arrivals(site, () =>
      site.post(`${RELAY}?dsn=${encodeURIComponent(stranger)}&sentry_key=other`, lines(header, item, '{}'), {
        'X-Sentry-Auth': 'Sentry sentry_key=other',
        'X-Forwarded-Host': `127.0.0.1:${site.strangerPort}`,
        'X-Original-URL': '/api/43/envelope/',
        Location: stranger,
      }),
    )
    expect(came.map(({ url, eventId }) => [url, eventId])).toEqual([['/api/42/envelope/', id]])
    expect(came[0]?.headers['x-sentry-auth']).toContain('sentry_key=public')
    // What was judged is what is sent: of two values the service reads the one that was read here.
    expect(came[0]?.envelope?.header['dsn']).toBe(OWN)
    expect(came[0]?.body.toString()).not.toContain(`"dsn":"${stranger}","event_id"`)
  })

  test.for([
    ['GET', 405],
    ['PUT', 405],
    ['OPTIONS', 405],
    ['POST', 403],
  ] as const)('I7 %s that is refused gets its answer instead of the leave to send', async ([method, status]) => {
    using connection = await site.connect()
    const head = [
      `${method} ${RELAY} HTTP/1.1`,
      'Host: localhost',
      'Origin: https://evil.test',
      'Expect: 100-continue',
      'Content-Length: 100000',
    ]
    await connection.send(`${head.join('\r\n')}\r\n\r\n`)
    const first = await connection.response()
    expect([first.status, first.header('connection')]).toEqual([status, 'close'])
    expect((await connection.end()).rest).toHaveLength(0)
  })

  test.for([
    ['https://evil.test', { 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'https' }],
    ['https://evil.test', { Forwarded: 'host=evil.test;proto=https' }],
    ['https://evil.test', { 'X-Forwarded-Host': 'localhost, evil.test' }],
    ['null', {}],
    ['http://localhost.evil.test', {}],
    ['http://localhost:444', {}],
    ['http://LOCALHOST.', {}],
  ] as const)('D7 a page of %s may not report here, whatever it says of proxies: %j', async ([origin, headers]) => {
    for (const type of ['TEXT/PLAIN', 'multipart/form-data; boundary=x;', 'application/x-www-form-urlencoded', '']) {
      const sent = { ...headers, Origin: origin, 'Content-Type': type }
      expect((await report(site, envelope(), sent)).status).toBe(403)
    }
    expect((await report(site, envelope(), { ...headers, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  })

  test('D4 whatever type a body claims, it is read as an envelope and sent on as one', async () => {
    const types = [
      'text/html',
      'application/json',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
    ]
    const came = await arrivals(site, async () => {
      for (const type of types) {
        expect((await report(site, envelope(), { 'Content-Type': type })).status).toBe(200)
        expect((await report(site, 'dsn=http://evil.test&event=x', { 'Content-Type': type })).status).toBe(400)
      }
    })
    expect(came.map(({ headers }) => headers['content-type'])).toEqual(types.map(() => 'application/x-sentry-envelope'))
  })

  test.for(['//', '/%2e/', '/./', '/x/../', '%2f'])('A10 the relay behind %j is no other way in', async (slash) => {
    const target = RELAY.replace(/\/(?=[^/]*$)/, slash)
    const came = await arrivals(site, async () => {
      const answer = await site.post(target, envelope(), { Origin: 'https://evil.test' })
      expect(answer.status).toBeOneOf([308, 400, 403, 404, 405])
    })
    expect(came).toEqual([])
  })

  test('H3 bodies that are too large, as sent or inflated, leave no memory behind', async () => {
    const bomb = zlib.gzipSync(envelope([EVENT, ['attachment', Buffer.alloc(64 * MIB)]]))
    const head = `POST ${RELAY} HTTP/1.1\r\nHost: localhost\r\n`
    const refuse = async (): Promise<void> => {
      const answers = await Promise.all([
        report(site, bomb, { 'Content-Encoding': 'gzip' }),
        report(site, bomb, { 'Content-Encoding': 'gzip' }),
        site.send(`${head}Content-Length: ${MAX_ENVELOPE_BYTES + 1}\r\n\r\n`),
        site.send(`${head}Content-Length: 99999999999999\r\n\r\n`),
      ])
      expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413])
    }
    await refuse()
    const before = await site.probe()
    for (let round = 0; round < 3; round += 1) await refuse()
    const after = await site.probe()
    for (const figure of ['heapUsed', 'external', 'arrayBuffers'] as const) {
      expect(after[figure] - before[figure]).toBeLessThan(8 * MIB)
    }
    const open = async (): Promise<number> => (await site.probe()).resources['TCPSocketWrap'] ?? 0
    await expect.poll(open).toBeLessThanOrEqual(before.resources['TCPSocketWrap'] ?? 0)
    expect(after.resources['Timeout'] ?? 0).toBeLessThanOrEqual(before.resources['Timeout'] ?? 0)
  })

  test('J7 the secret of a DSN is in no page, no file and no refusal', async () => {
    const page = await site.get('/')
    expect(page.text).toContain(RELAY)
    const files = [...page.text.matchAll(/\/_m\/assets\/[\w.-]+\.js/g)].map(([path]) => path)
    for (const target of ['/lab/reports', '/_m/build.json', RELAY, ...new Set(files)]) await site.get(target)
    const answers = [await report(site, SENTRY_DSN), await report(site, envelope([EVENT], { dsn: SENTRY_DSN }))]
    expect(answers.map(({ status }) => status)).toEqual([400, 200])
    await sink.until(({ requests }) => requests.length > 0)
    expect(JSON.stringify(sink.requests.map(({ headers, url }) => [headers, url]))).not.toContain(SECRETS[1])
  })

  test('pages do not notice a service that hangs, or is gone, and nothing is lost', async () => {
    const ids = Array.from({ length: 40 }, newEventId)
    sink.answer({ after: new Promise(() => undefined) })
    for (const id of ids.slice(0, 20)) {
      expect((await report(site, envelope([EVENT], { event_id: id }))).status).toBe(200)
    }
    expect((await site.get('/lab/params/x')).status).toBe(200)
    await sink.close()
    for (const id of ids.slice(20)) {
      expect((await report(site, envelope([EVENT], { event_id: id }))).status).toBe(200)
    }
    expect((await site.get('/lab/params/x')).status).toBe(200)
    sink.answer({})
    await sink.open()
    await sink.until(({ requests }) => {
      const came = new Set(requests.map(({ eventId }) => eventId))
      return ids.every((id) => came.has(id))
    })
  })
})

describe('of one origin, with every request traced', () => {
  const ORIGIN = 'https://good.test'
  const HOST = 'good.test'
  const site = replayServer({ env: { SENTRY_DSN, ORIGIN, SENTRY_TRACES_SAMPLE_RATE: '1' } })

  test.for([
    'https://evilgood.test',
    'https://good.test.evil.test',
    'https://good.test:444',
    'https://good.test.',
    'http://good.test',
    'https://good.test@evil.test',
    'good.test',
    '*',
  ])('D8 a page of %s is of another origin', async (origin) => {
    expect((await report(site, envelope(), { Origin: origin }, HOST)).status).toBe(403)
    expect((await report(site, envelope(), { Origin: ORIGIN }, HOST)).status).toBe(200)
  })

  test.for([
    { baggage: 'sentry-trace_id=%4Z', 'sentry-trace': 'zz' },
    { baggage: 'a=%3G,sentry-release=%E0%A4,=;=,', 'sentry-trace': `${'0'.repeat(32)}-${'0'.repeat(16)}-1` },
    { baggage: `sentry-trace_id=${'a'.repeat(7_000)}`, traceparent: '00-x-y-01' },
    { baggage: '__proto__=x,sentry-__proto__=x,sentry-constructor=x', tracestate: '__proto__=x' },
    { Cookie: 'a=%E0%A4', 'sentry-trace': 'a-b-c-d-e-f' },
  ])('H14 tracing takes no harm from %j', async (headers) => {
    for (const target of ['/', '/lab/params/x', '/_m/data/lab/params/x', '/robots.txt', '/healthz', '/nope']) {
      const plain = await site.get(target, {}, HOST)
      expect((await site.get(target, headers, HOST)).status).toBe(plain.status)
    }
    expect((await report(site, envelope(), headers, HOST)).status).toBe(200)
  })

  test('a sender who forges addresses is one sender, and is told when to come again; pages go on', async () => {
    // Each takes the credits of eighty.
    const bomb = zlib.gzipSync(envelope([EVENT, ['attachment', Buffer.alloc(24 * MIB)]]))
    const answers: RawResponse[] = []
    while (answers.length < 60 && answers.at(-1)?.status !== 429) {
      const address = `10.0.0.${answers.length}`
      const forged = { 'X-Forwarded-For': address, Forwarded: `for=${address}`, 'X-Real-IP': address }
      answers.push(await report(site, bomb, { 'Content-Encoding': 'gzip', ...forged }, HOST))
    }
    const refused = answers.at(-1)
    expect(refused?.status).toBe(429)
    expect(Number(refused?.header('retry-after'))).toBeGreaterThan(0)
    expect(refused?.header('x-sentry-rate-limits')).toMatch(/^\d+::key$/)
    expect((await site.send(getRequest('/lab/params/x', {}, HOST))).status).toBe(200)
    expect((await site.sign({ Origin: ORIGIN, Host: HOST })).status).toBe(303)
    site.expectChanges(1)
  })
})

describe('with senders that never end', () => {
  const site = replayServer({ env: { SENTRY_DSN } })
  const GONE_MS = 10_000

  test('H18 envelopes that are begun hold so much together, and keep no event away', async () => {
    const COUNT = 480 // a quarter of a megabyte each, and four of the largest envelope are held: 80 MiB
    site.permit(503)
    const before = await site.probe()
    const head = `POST ${RELAY} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 260000\r\n\r\n{"dsn":"${OWN}"}\n`
    const begun = Buffer.from(`${head}{"type":"attachment"}\n${'a'.repeat(250_000)}`)
    const connections = await Promise.all(Array.from({ length: COUNT }, () => site.connect()))
    const refused: (string | number | undefined)[][] = []
    for (const connection of connections) {
      void connection.response().then(
        (answer) => refused.push([answer.status, answer.header('retry-after')]),
        () => undefined, // the test ends it
      )
    }
    await Promise.all(connections.map((connection) => connection.send(begun)))
    await expect.poll(() => refused.length, { timeout: GONE_MS }).toBeGreaterThanOrEqual(COUNT - 365)
    expect(new Set(refused.map(String))).toEqual(new Set(['503,1']))
    expect((await site.probe()).arrayBuffers).toBeLessThan(before.arrayBuffers + 115_000_000)
    const came = await arrivals(site, async () => expect((await report(site)).status).toBe(200))
    expect(came).toHaveLength(1)
    for (const { socket } of connections) socket.resetAndDestroy()
    const large = envelope([EVENT, ['attachment', 'a'.repeat(250_000)]])
    await expect.poll(async () => (await report(site, large)).status, { timeout: GONE_MS }).toBe(200)
  })
})
