/** `deploy/nginx.conf` with the real nginx, in front of a server that says what reaches it. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePorts } from '../../support/free-ports.ts'
import { startNginx, type RunningNginx } from '../../support/nginx.ts'
import { findProgram } from '../../support/programs.ts'
import { connectRaw, getRequest, requestRaw, type RawConnection } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'

const FILE = '/_m/assets/page-0123ABCD.js'
const CODINGS = ['zstd', 'br', 'gzip'] as const
const CONNECTIONS = 200 // `limit_conn` of the file
const TEST_ADDRESS = 'x-test-address'

const CHANGES = {
  // Says which answers it had already, and lets a test come from any address.
  '      proxy_cache $asset_cache;':
    '      proxy_cache $asset_cache;\n      add_header X-Cache $upstream_cache_status always;',
  'merge_slashes off;': `set_real_ip_from 127.0.0.1; real_ip_header ${TEST_ADDRESS}; merge_slashes off;`,
}

describe.skipIf(findProgram('nginx') === undefined)('behind deploy/nginx.conf', () => {
  const received: IncomingMessage[] = []
  let upstreams: readonly Server[]
  let nginx: RunningNginx
  let port = 0

  /** Answers as the server does: files for ever and by coding, and `/wait` never. */
  function startUpstream(): Server {
    return createServer((request, response) => {
      received.push(request)
      if (request.url === '/wait') return
      const coding = CODINGS.find((name) => request.headers['accept-encoding'] === name)
      if (request.url?.startsWith('/_m/assets/') === true) {
        response.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
        response.setHeader('Vary', 'Accept-Encoding')
      }
      if (coding !== undefined) response.setHeader('Content-Encoding', coding)
      response.end(`body ${coding ?? 'plain'}`)
    }).listen(0, '127.0.0.1')
  }

  const get = (target: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> =>
    requestRaw(port, getRequest(target, { Connection: 'close', ...headers }))

  beforeAll(async () => {
    upstreams = [0, 1, 2].map(() => startUpstream())
    ;[port = 0] = await freePorts(1)
    const ports = upstreams.map((server) => (server.address() as AddressInfo).port)
    nginx = await startNginx(port, ports, CHANGES)
  })

  beforeEach(() => {
    received.length = 0
  })

  afterAll(async () => {
    await nginx?.[Symbol.asyncDispose]()
    for (const server of upstreams ?? []) {
      server.closeAllConnections()
      server.close()
    }
  })

  test('a visitor cannot fill the cache with copies of one file by its query', async () => {
    const file = `${FILE}.map`
    for (let n = 0; n < 20; n += 1) expect((await get(`${file}?n=${n}`)).status).toBe(200)
    expect(received).toHaveLength(1)
    expect((await get(file)).header('x-cache')).toBe('HIT')
  })

  test('nor by the spelling of Accept-Encoding, and each visitor gets a coding that it takes', async () => {
    const accepted: readonly (readonly [accept: string, coding: string | undefined])[] = [
      ['gzip, deflate, br, zstd', 'zstd'],
      ['zstd;q=1.0,br', 'zstd'],
      ['gzip, deflate, br', 'br'],
      ['GZIP,BR', 'br'],
      ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'br'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['br;q=0.000,gzip', 'gzip'],
      ['xbr, gzip', 'gzip'],
      ['gzip', 'gzip'],
      ['identity', undefined],
      ['', undefined],
      ['gzip;q=0', undefined],
      ...Array.from({ length: 30 }, (_, n) => [`gzip;q=0.${100 + n}`, 'gzip'] as const),
      ...Array.from({ length: 30 }, (_, n) => [`gzip, x-${n}`, 'gzip'] as const),
    ]
    for (const [accept, coding] of accepted) {
      const answer = await get(FILE, { 'Accept-Encoding': accept })
      expect([accept, answer.header('content-encoding')]).toEqual([accept, coding])
      expect(answer.text).toBe(`body ${coding ?? 'plain'}`)
      expect(answer.header('vary')).toBe('Accept-Encoding')
    }
    expect(received).toHaveLength(CODINGS.length + 1)
  })

  test.for([
    `/a/..%2f_m%2fassets%2fpage-0123ABCD.js`,
    `/_m/assets/x%2f..%2fpage-0123ABCD.js`,
    `/_m/assets/%70age-0123ABCD.js`,
    `/_m//assets/../assets/page-0123ABCD.js`,
    `/_m/assets/a%0ab.js`,
  ])('%s, a file to nginx alone, is never answered from the cache and never kept', async (target) => {
    await get(FILE)
    received.length = 0
    for (const time of [1, 2]) {
      expect((await get(target)).header('x-cache') ?? 'MISS').toBe('MISS')
      expect(received).toHaveLength(time)
      expect(received.at(-1)?.url).toBe(target)
    }
  })

  test('pages keep the visitor’s own Accept-Encoding', async () => {
    await get('/page', { 'Accept-Encoding': 'gzip;q=0.7, br' })
    expect(received[0]?.headers['accept-encoding']).toBe('gzip;q=0.7, br')
  })

  test('nothing that a visitor says of addresses, hosts or methods reaches an instance', async () => {
    const names = [
      'Forwarded',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'X-Forwarded-Port',
      'X-Forwarded-Prefix',
      'X-Forwarded-Server',
      'X_Forwarded_For',
      'X-Real-IP',
      'X-Client-IP',
      'X-Cluster-Client-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'X-Original-URL',
      'X-Rewrite-URL',
      'X-HTTP-Method-Override',
      'X-Request-Id',
      'traceparent',
      'tracestate',
    ]
    await get('/page', Object.fromEntries(names.map((name) => [name, 'evil.test'])))
    expect(JSON.stringify(received[0]?.rawHeaders)).not.toContain('evil.test')
    expect(received[0]?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'localhost' })
  })

  test.for([
    ['websocket', 'websocket', 'upgrade'],
    ['WebSocket', 'websocket', 'upgrade'],
    ['h2c', undefined, undefined],
    ['websocket, h2c', undefined, undefined],
  ] as const)('Upgrade: %s reaches an instance as %s', async ([asked, upgrade, connection]) => {
    await get('/page', { Connection: 'upgrade', Upgrade: asked })
    expect(received[0]?.headers.upgrade).toBe(upgrade)
    expect(received[0]?.headers.connection === 'upgrade').toBe(connection === 'upgrade')
  })

  test('the /64 of an IPv6 visitor counts as one visitor', async () => {
    const open: RawConnection[] = []
    const statusFrom = async (address: string): Promise<number> =>
      (await get('/page', { [TEST_ADDRESS]: address })).status
    try {
      for (let n = 0; n < CONNECTIONS; n += 1) {
        const connection = await connectRaw(port)
        await connection.send(getRequest('/wait', { [TEST_ADDRESS]: `2001:db8:0:1:${n.toString(16)}::1` }))
        open.push(connection)
      }
      await expect.poll(() => received.length).toBe(CONNECTIONS)
      expect(await statusFrom('2001:db8:0:1:ffff:ffff:ffff:ffff')).toBe(503)
      for (const honest of [
        '2001:db8:0:2::1',
        '2001:db8::1',
        '2001:db9:0:1::1',
        '::ffff:192.0.2.1',
        '192.0.2.1',
        '::1',
      ])
        expect([honest, await statusFrom(honest)]).toEqual([honest, 200])
    } finally {
      for (const connection of open) connection[Symbol.dispose]()
    }
  })
})
