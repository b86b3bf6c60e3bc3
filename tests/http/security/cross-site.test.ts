/** Replays D: calls of actions that come from other sites, or name actions that are not there. See `README.md`. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { replayServer, SIGN, SIGNATURE, type HeaderLines } from '../../support/replay-server.ts'

const site = replayServer()
const PUBLIC = resolve(import.meta.dirname, '../../../dist/public')

/** The ways a form reaches its action. */
const WAYS = [
  ['the URL of the page', `/lab/guestbook?_action=${SIGN}.1`, SIGNATURE],
  ['the plain URL of the page', '/lab/guestbook', `$ACTION_ID=${SIGN}&${SIGNATURE}`],
  ['route data', `/_m/data/lab/guestbook?_action=${SIGN}`, SIGNATURE],
] as const

const FOREIGN: readonly HeaderLines[] = [
  { Origin: 'https://evil.test' },
  { Origin: 'null' },
  { Origin: '' },
  { Origin: 'file://' },
  { Origin: 'localhost' },
  { Origin: 'https://localhost' },
  { Origin: 'http://localhost:444' },
  { Origin: 'http://localhost.evil.test' },
  { Origin: 'http://evillocalhost' },
  { Origin: 'http://localhost@evil.test' },
  { Origin: 'http://localhost, http://evil.test' },
  { Origin: 'http://evil.test, http://localhost' },
  { Origin: 'http://localhost/' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'same-origin, cross-site' },
  { 'Sec-Fetch-Site': 'bogus' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://localhost' },
  { 'Sec-Fetch-Site': 'none', Origin: 'null' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: 'null, null' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.test' },
  { 'Sec-Fetch-Site': 'none', Origin: 'https://evil.test' },
  { 'Sec-Fetch-Site': 'cross-site', Cookie: '__Host-lab=x' },
  { Origin: 'https://evil.test', 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'https' },
  { Origin: 'https://evil.test', Referer: 'http://localhost/lab/guestbook' },
  { Origin: 'https://evil.test', 'Content-Type': 'TEXT/PLAIN' },
  { Origin: 'https://evil.test', 'Content-Type': 'multipart/form-data; boundary=x;' },
  { Origin: 'https://evil.test', 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
  { Origin: 'https://evil.test', 'Content-Type': '' },
]

describe.for(WAYS)('D1 D2 D4 D5 D10 another site calls by %s: 403, and nothing has run', ([, target, body]) => {
  test.for(FOREIGN)('%j', async (headers) => {
    expect((await site.post(target, body, headers)).status).toBe(403)
  })
})

test.for(WAYS)('D5 a foreign call by %s is refused before its body is there', async ([, target]) => {
  const connection = await site.connect()
  await connection.send(
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.test\r\nContent-Length: 500000\r\n` +
      'Content-Type: application/x-www-form-urlencoded\r\n\r\n',
  )
  const answer = await connection.response()
  expect(answer.status).toBe(403)
  expect(answer.header('connection')).toBe('close')
  connection.socket.destroy()
})

test.for(WAYS)('a call by %s from a page without referrers is one of this site', async ([, target, body]) => {
  const answer = await site.post(target, body, { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' })
  expect(answer.status).toBeOneOf([200, 303])
  site.expectChanges(1)
})

test.for(WAYS)(
  'D10 a call by %s with neither Origin nor Sec-Fetch-Site comes from no browser',
  async ([, target, body]) => {
    expect((await site.post(target, body)).status).toBeOneOf([200, 303])
    site.expectChanges(1)
  },
)

test('D10 reading never changes anything: GET and HEAD of an action lead to its page', async () => {
  for (const method of ['GET', 'HEAD']) {
    const bytes = `${method} /lab/guestbook?_action=${SIGN}.1&${SIGNATURE} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const answer = await site.send(bytes, { head: method === 'HEAD' })
    expect([answer.status, answer.header('location')]).toEqual([303, `/lab/guestbook?${SIGNATURE}`])
    const data = `${method} /_m/data/lab/guestbook?_action=${SIGN}&${SIGNATURE} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    expect((await site.send(data, { head: method === 'HEAD' })).status).toBe(200)
  }
  for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS', 'PROPFIND']) {
    for (const [, target] of WAYS) {
      const answer = await site.send(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`)
      expect([method, target, answer.status]).toEqual([method, target, method === 'OPTIONS' ? 204 : 405])
      expect(answer.header('allow')).toMatch(/^GET, HEAD/)
    }
  }
})

test.for(['override', 'x-http-method-override', '_method'])('D10 %s does not make a GET a POST', async (name) => {
  const answer = await site.get(`/lab/guestbook?${name}=POST&${SIGNATURE}`, { [name]: 'POST' })
  expect(answer.status).toBe(200)
})

describe('D11 ids', () => {
  test.for([
    '0'.repeat(40),
    '0'.repeat(6_000),
    SIGN.toLowerCase(),
    SIGN.slice(0, -1),
    `${SIGN}0`,
    `${SIGN}%00`,
    `%2e%2e%2f${SIGN}`,
    '../x',
    '*',
    '',
    `.${SIGN}`,
    'lab/guestbook/actions.server.ts%23sign',
    'sign',
  ])('that no action has are 404 with a short answer: %s', async (id) => {
    for (const target of [`/lab/guestbook?_action=${id}.1`, `/_m/data/lab/guestbook?_action=${id}`]) {
      const answer = await site.post(target, SIGNATURE)
      expect(answer.status).toBeOneOf([404, 400])
      expect(answer.body.length).toBeLessThan(1_000)
      expect(answer.text).not.toContain(SIGN)
    }
  })

  test('given twice, empty or as a list call the first or nothing', async () => {
    const other = '0'.repeat(16)
    const twice = [`_action=${other}&_action=${SIGN}`, `_action[]=${SIGN}`, `_action%5B%5D=${SIGN}`, `_Action=${SIGN}`]
    for (const query of twice) {
      expect((await site.post(`/lab/guestbook?${query}`, SIGNATURE)).status).toBeOneOf([404, 405])
      expect((await site.post(`/_m/data/lab/guestbook?${query}`, SIGNATURE)).status).toBeOneOf([404, 405])
    }
  })

  test('are run for a page of another build, since they are the same in all builds', async () => {
    site.expectChanges(1)
    const headers = { 'X-Millrace-Build': 'another' }
    expect((await site.post(`/_m/data/lab/guestbook?_action=${SIGN}`, SIGNATURE, headers)).status).toBe(200)
  })

  test('are no names: nothing the browser gets says where an action stands or what it does', () => {
    const files = readdirSync(PUBLIC, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?:js|json)$/.test(name),
    )
    expect(files.length).toBeGreaterThan(10)
    const all = files.map((name) => readFileSync(resolve(PUBLIC, name), 'utf8')).join('\n')
    expect(all).toContain(SIGN)
    expect(all).not.toMatch(/actions\.server|guestbook\.server|So many entries|INSERT INTO/)
  })
})

describe('D7 D8 with a configured origin', () => {
  const ORIGINS: readonly (readonly [origin: string, ours: boolean])[] = [
    ['https://good.test', true],
    ['https://evil.test', false],
    ['https://evilgood.test', false],
    ['https://good.test.evil.test', false],
    ['https://good.test:444', false],
    ['https://GOOD.test.', false],
    ['https://good.test.', false],
    ['http://good.test', false],
    ['https://x.good.test', false],
    ['https://good.test@evil.test', false],
    ['https://good_test', false],
    ['null', false],
  ]

  describe('asked directly', () => {
    const direct = replayServer({ env: { ORIGIN: 'https://good.test' } })
    test.for(ORIGINS)('Origin %s', async ([origin, ours]) => {
      const forwarded: readonly HeaderLines[] = [
        {},
        { 'X-Forwarded-Host': 'good.test' },
        { 'X-Forwarded-Host': 'evil.test' },
        { 'X-Forwarded-Host': 'a, b' },
      ]
      for (const headers of forwarded) {
        const answer = await direct.sign({ Host: 'good.test', Origin: origin, ...headers })
        expect([headers, answer.status]).toEqual([headers, ours ? 303 : 403])
      }
      if (ours) direct.expectChanges(forwarded.length)
    })
  })

  describe('asked through a proxy of ours', () => {
    const proxied = replayServer({ env: { ORIGIN: 'https://good.test', TRUST_PROXY: '127.0.0.1' } })
    test.for(ORIGINS)('Origin %s', async ([origin, ours]) => {
      const cases = [
        ['good.test', ours ? 303 : 403],
        ['evil.test', 400],
        ['good.test, evil.test', 400],
        ['a, b', 400],
      ] as const
      for (const [host, status] of cases) {
        const headers = { Host: 'inner.test', 'X-Forwarded-Host': host, 'X-Forwarded-Proto': 'https' }
        const answer = await proxied.sign({ ...headers, Origin: origin })
        expect([host, answer.status]).toEqual([host, status])
      }
      if (ours) proxied.expectChanges(1)
    })
  })
})
