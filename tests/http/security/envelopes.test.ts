/** Replays with what stands in an envelope: lengths, names, depth, and text. See `README.md`. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { INBOX_DSN } from '../../../src/server/config/dsn.ts'
import { derivedTunnelPath } from '../../../src/server/config/tunnel-path.ts'
import { chunked } from '../../support/hostile-bodies.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { requestRaw } from '../../support/raw-http.ts'
import { postRequest, replayServer } from '../../support/replay-server.ts'
import { serverOfTest } from '../../support/server-of-test.ts'
import { arrivals, envelope, EVENT, lines, OWN, RELAY, report, SENTRY_DSN, sink, type Item } from './relay-setup.ts'

const MIB = 1_048_576

describe('with a service', () => {
  const site = replayServer({ env: { SENTRY_DSN } })

  test('I1 an envelope that holds a request is one request to the service', async () => {
    const smuggled = `0\r\n\r\nPOST /api/43/envelope/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`
    const body = envelope([EVENT, ['attachment', smuggled]])
    const head = `POST ${RELAY} HTTP/1.1\r\nHost: localhost\r\n`
    const came = await arrivals(site, async () => {
      expect((await report(site, body)).status).toBe(200)
      expect((await site.send(chunked(head, body, 7))).status).toBe(200)
    })
    expect(came.map(({ url, envelope: sent }) => [url, sent?.items[1]?.payload.toString()])).toEqual([
      ['/api/42/envelope/', smuggled],
      ['/api/42/envelope/', smuggled],
    ])
  })

  test('E5 names of prototypes are names', async () => {
    const header = `{"dsn":"${OWN}","__proto__":{"dsn":"http://evil.test"},"constructor":{"prototype":{"x":1}}}`
    const item = '{"type":"event","__proto__":{"length":9}}'
    const came = await arrivals(site, async () => {
      expect((await report(site, lines(header, item, '{"__proto__":{"type":"transaction"}}'))).status).toBe(200)
      // Without one of its own, the envelope has no DSN.
      expect((await report(site, lines(`{"__proto__":{"dsn":"${OWN}"}}`, item, '{}'))).status).toBe(400)
    })
    expect(came).toHaveLength(1)
  })

  // JSON.stringify writes lists in a loop, and calls itself where keys are numbers.
  test.for(['{"a":', '{"1":'])('H12 headers that are nested 9,000 deep, as %s, are read or refused', async (open) => {
    const deep = `${open.repeat(9_000)}1${'}'.repeat(9_000)}`
    for (const body of [
      lines(`{"dsn":"${OWN}","a":${deep}}`, '{"type":"event"}', '{}'),
      lines(`{"dsn":"${OWN}"}`, `{"type":"event","a":${deep}}`, '{}'),
    ]) {
      expect((await report(site, body)).status).toBeOneOf([200, 400])
    }
  })

  test.for(['{"a":', '{"1":'])('H12 nor is it a failure of ours to leave something out of %s', async (open) => {
    const deep = `${open.repeat(100_000)}1${'}'.repeat(100_000)}`
    const spans = '[{"description":"GET /healthz"},{"description":"GET /mills"}]'
    const items: Item[] = [
      ['event', `{"a":${deep}}`],
      ['transaction', `{"a":${deep},"spans":${spans}}`],
      ['span', `{"a":${deep},"items":${spans}}`],
    ]
    for (const item of items) expect((await report(site, envelope([item]))).status).toBeOneOf([200, 400])
    const came = await arrivals(site, () => report(site, envelope([['transaction', `{"spans":${spans}}`]])))
    expect(came.map(({ body }) => body.includes('GET /mills'))).toEqual([true])
    expect(came[0]?.body.toString()).not.toContain('/healthz')
  })

  test.for(['{"toString":1,"valueOf":1}', `${'['.repeat(20_000)}${']'.repeat(20_000)}`])(
    'H12 nor is it one to look at an attribute that can be made no text of',
    async (value) => {
      const data = `"data":{"http.response.status_code":${value},"http.request.header.sec-purpose":${value}}`
      const items: Item[] = [
        ['transaction', `{"contexts":{"trace":{${data}},"response":{"status_code":${value}}}}`],
        ['transaction', `{"request":{"headers":{"sec-purpose":${value}}}}`],
        ['span', `{${data}}`],
      ]
      for (const item of items) expect((await report(site, envelope([item]))).status).toBe(200)
    },
  )

  test('H6 thousands of items are refused, and empty lines cost nothing', async () => {
    const item = '{"type":"session"}\n{}\n'
    expect((await report(site, `{"dsn":"${OWN}"}\n${item.repeat(1_001)}`)).status).toBe(413)
    expect((await report(site, `{"dsn":"${OWN}"}\n${item.repeat(1_000)}`)).status).toBe(200)
    expect((await report(site, `{"dsn":"${OWN}"}\n${'\n'.repeat(MIB)}{"type":"session"}\n{}\n`)).status).toBe(200)
  })

  test('H20 headers that no client sends reach the service harmlessly, and hold up nothing behind them', async () => {
    const came = await arrivals(site, () =>
      report(site, envelope(), {
        'User-Agent': '\u009b2Jcanary\u0085X-Sentry-Auth: other',
        Referer: 'http://localhost/\u00a0\u00ff',
        'Sec-CH-UA': 'x'.repeat(9_000),
        'Sec-CH-UA-__proto__': 'x',
      }),
    )
    expect(came).toHaveLength(1)
    expect(came[0]?.headers['x-sentry-auth']).toContain('sentry_key=public')
    expect(came[0]?.headers['sec-ch-ua']).toBeUndefined()
  })
})

test('A14 types that are named like members of every object count as types that nobody knows', async () => {
  const types = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
  const server = await serverOfTest({ env: { SENTRY_DSN } })
  const send = async (items?: readonly Item[]): Promise<void> => {
    expect((await requestRaw(server.port, postRequest(RELAY, envelope(items)))).status).toBe(200)
  }
  const before = sink.requests.length
  const came = () => sink.requests.slice(before).flatMap(({ envelope: sent }) => sent?.items ?? [])
  // What the service finds too large is counted as lost, by category; the service is told at the end at the latest.
  sink.answer(({ envelope: sent }) => ({ status: sent?.items[0]?.type === 'constructor' ? 413 : 200 }))
  onTestFinished(() => sink.answer({}))
  await send(types.map((type) => [type, '{}']))
  await send()
  await sink.until(() => came().some(({ type }) => type === 'event'))
  await server.stop()
  expect(
    came()
      .slice(0, types.length)
      .map(({ type }) => type),
  ).toEqual(types)
  const losses =
    came()
      .find(({ type }) => type === 'client_report')
      ?.payload.toString() ?? '{}'
  expect(JSON.parse(losses)).toMatchObject({
    discarded_events: [{ reason: 'send_error', category: 'default', quantity: types.length }],
  })
})

describe('without a service', () => {
  const site = replayServer()
  const INBOX = derivedTunnelPath('')
  const keep = (payload: string): Promise<RawResponse> =>
    site.post(INBOX, envelope([['event', payload]], { dsn: INBOX_DSN }))

  test.for(['{"a":', '{"1":'])(
    'H12 the inbox takes no harm from events that are nested 100,000 deep, as %s',
    async (open) => {
      const deep = `${open.repeat(100_000)}1${'}'.repeat(100_000)}`
      for (const payload of [
        `{"message":"deep","extra":${deep}}`,
        `{"message":${deep}}`,
        `{"exception":{"values":[{"type":"Deep","value":"deep","stacktrace":{"frames":[{"vars":${deep}}]}}]}}`,
        `{"exception":${deep},"tags":${deep},"contexts":${deep},"request":${deep},"breadcrumbs":${deep}}`,
      ]) {
        expect((await keep(payload)).status).toBeOneOf([200, 400])
      }
      expect((await site.get('/lab/reports')).status).toBe(200)
    },
  )
})
