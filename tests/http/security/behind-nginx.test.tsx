/** `deploy/nginx.conf` with the real nginx, in front of three servers: what one visitor can do to the others by one request. */
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { GuardArgs, LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { limitConnections } from '../../../src/server/process/limit-connections.ts'
import { setServerLimits } from '../../../src/server/process/server-limits.ts'
import { MAX_HEAD_BYTES } from '../../../src/server/http/header-list.ts'
import { defineSession } from '../../../src/server/secrets/define-session.ts'
import { redirect } from '../../../src/shared/control-flow.ts'
import { freePorts } from '../../support/free-ports.ts'
import { startNginx, type RunningNginx } from '../../support/nginx.ts'
import { findProgram } from '../../support/programs.ts'
import { getRequest, requestRaw } from '../../support/raw-http.ts'
import { moduleOf, page, tinyApp, type TinyApp } from '../../support/tiny-app.tsx'

const TEST_ADDRESS = 'x-test-address'
const CHANGES = {
  'merge_slashes off;': `set_real_ip_from 127.0.0.1; real_ip_header ${TEST_ADDRESS}; merge_slashes off;`,
}
const INSTANCES = 3
const OTHERS = 12 // enough for each instance to have some
const LONG = 'a'.repeat(5_000)

const session = defineSession({ name: 'session', schema: z.object({ text: z.string() }) })
const second = defineSession({ name: 'second', schema: z.object({ text: z.string() }) })

function makeApp(): TinyApp {
  return tinyApp({
    environment: { TRUST_PROXY: '127.0.0.1', SECRET_KEYS: 'a-key-of-all-instances-of-this-test' },
    rules: {
      redirects: [{ source: '/old/:path*', destination: '/:path*/:path*/:path*/:path*', permanent: true }],
      headers: [
        { source: '/named/:path*', headers: Array.from({ length: 8 }, (_, n) => ({ key: `X-${n}`, value: ':path*' })) },
      ],
    },
    routes: {
      '/': { page: page(() => <h1>Home</h1>) },
      '/kept': {
        cache: 'shared',
        page: page(({ data }: { data: { text: string } }) => <h1>{data.text}</h1>),
        loader: moduleOf({ loader: () => ({ text: 'kept '.repeat(2_000) }) }),
      },
      '/named/[[...path]]': { page: page(() => <h1>Named</h1>) },
      '/inside': {
        guard: moduleOf({
          guard: ({ request }: GuardArgs) => redirect(`/sign-in?to=${encodeURIComponent(request.url)}`),
        }),
        page: page(() => <h1>Inside</h1>),
      },
      '/sign-in': {
        handler: moduleOf({
          async GET({ context }: LoaderArgs) {
            await (await session.open(context)).set({ text: 'u'.repeat(2_700) })
            await (await second.open(context)).set({ text: 'v'.repeat(2_700) })
            return new Response(null, { status: 303, headers: { Location: '/' } })
          },
        }),
      },
      '/largest': {
        handler: moduleOf({
          GET: () => new Response('', { headers: { 'X-Large': 'x'.repeat(MAX_HEAD_BYTES - 1_000) } }),
        }),
      },
      '/echo': {
        handler: moduleOf({
          GET: ({ request }: LoaderArgs) =>
            new Response('', { headers: Object.fromEntries([...'abcdef'].map((name) => [`X-${name}`, request.url])) }),
        }),
      },
    } as never,
  })
}

describe.skipIf(findProgram('nginx') === undefined)('behind deploy/nginx.conf', () => {
  const apps: TinyApp[] = []
  const servers: Server[] = []
  let nginx: RunningNginx
  let port = 0

  const statusOf = async (target: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    (await requestRaw(port, getRequest(target, { Connection: 'close', ...headers }))).status

  /** Of visitors of all instances. */
  const others = (): Promise<number[]> =>
    Promise.all(Array.from({ length: OTHERS }, (_, n) => statusOf('/', { [TEST_ADDRESS]: `198.51.100.${n + 1}` })))

  beforeAll(async () => {
    for (let n = 0; n < INSTANCES; n += 1) {
      const tiny = makeApp()
      tiny.app.readiness.markReady()
      const server = createServer(tiny.app.messageClasses, tiny.app)
      setServerLimits(server)
      limitConnections(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      apps.push(tiny)
      servers.push(server)
    }
    ;[port = 0] = await freePorts(1)
    nginx = await startNginx(
      port,
      servers.map((server) => (server.address() as AddressInfo).port),
      CHANGES,
    )
  })

  afterAll(async () => {
    await nginx?.[Symbol.asyncDispose]()
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
    for (const { app } of apps) app.dispose()
  })

  test.for(['/kept', '/_m/data/kept'])(
    'a kept page arrives in each coding, and once for those who have it: %s',
    async (path) => {
      const ask = async (coding: string, known = '') => {
        const headers = { 'Accept-Encoding': coding, ...(known === '' ? {} : { 'If-None-Match': known }) }
        const options = { port, host: '127.0.0.1', path, headers, agent: false as const }
        const [answer] = (await once(get(options), 'response')) as [IncomingMessage]
        return { answer, body: Buffer.concat(await answer.toArray()) }
      }
      // Each instance makes its own.
      for (let asked = 0; asked < 2 * INSTANCES; asked += 1) await ask('identity')
      const decoders = {
        identity: (body: Buffer) => body,
        gzip: gunzipSync,
        br: brotliDecompressSync,
        zstd: zstdDecompressSync,
      }
      for (const [coding, decode] of Object.entries(decoders)) {
        const { answer, body } = await ask(coding)
        const { 'cache-status': status, 'content-encoding': sent = 'identity', etag = '' } = answer.headers
        expect([status, sent, answer.headers['content-length']]).toEqual([
          expect.stringContaining('Millrace; hit'),
          coding,
          String(body.length),
        ])
        expect(decode(body).toString()).toContain('kept '.repeat(2_000).trim())
        expect((await ask(coding, etag)).answer.statusCode).toBe(304)
      }
    },
  )

  test.for([
    ['a slash too many in front of a long query', `//?${LONG}`, {}, 308],
    ['a slash too many behind a path', `/inside/?${LONG}`, {}, 308],
    ['the longest URL', `//?${'a'.repeat(8_000)}`, {}, 308],
    ['a slash too many in a file of the runtime', `/_m/assets//x.js?${LONG}`, {}, 308],
    ['a rule that repeats what it has captured', `/old/${'b'.repeat(3_000)}`, {}, 414],
    ['a rule that sets headers of what it has captured', `/named/${LONG}`, {}, 500],
    ['a guard that names the page in its redirect', `/inside?${LONG}`, {}, 307],
    ['the same with a query that has to be encoded twice', `/inside?${'%22'.repeat(2_000)}`, {}, 414],
    ['a handler that repeats its URL in six headers', `/echo?${LONG}`, {}, 500],
    ['the largest head that is sent', '/largest', {}, 200],
    ['an honest visitor who signs in, with two large sealed cookies', '/sign-in', {}, 303],
    ['an unexpected form', '/?_action=none.1', {}, 303],
    [
      'headers that are too long for the server',
      '/',
      { 'X-Long': 'c'.repeat(15_500), 'X-More': 'd'.repeat(1_500) },
      431,
    ],
  ] as const)('%s takes no instance from others', async ([, target, headers, status]) => {
    // One visitor is asked for by one instance, and by the next once nginx does not ask the first any more.
    for (let n = 0; n < INSTANCES * 2; n += 1) {
      expect(await statusOf(target, { [TEST_ADDRESS]: '203.0.113.9', ...headers })).toBe(status)
    }
    expect(await others()).toEqual(Array(OTHERS).fill(200))
    expect(nginx.errors()).not.toMatch(/too big header|disabled|reset by peer|prematurely/)
  })
})
