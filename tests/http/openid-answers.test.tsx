/** The recipe for signing in by another service, against a provider that lies, fails, or is spoken for by somebody else. */
import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { JWTPayload } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { openTestApp } from '../../src/testing/open-test-app.ts'
import { oauth } from '../fixtures/accounts-app/oauth/middleware.server.ts'
import { startOpenid, type OpenidProvider } from '../support/openid-provider.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { moduleOf } from '../support/tiny-app.tsx'

const SECRET = 'secret'

let provider: OpenidProvider
let site: ReturnType<typeof openTestApp>
let origin: string

beforeEach(async () => {
  provider = await startOpenid()
  provider.user = { sub: '7', email: 'eve@example.com', email_verified: true }
  const GET = async ({ context }: LoaderArgs): Promise<Response> =>
    Response.json({ identity: (await context.locals.identify?.()) ?? null })
  site = openTestApp({
    routes: { '/oauth/callback': { handler: moduleOf({ GET }) } } as never,
    middleware: [oauth],
  })
  origin = await site.origin()
  vi.stubEnv('ORIGIN', origin)
  vi.stubEnv('OIDC_ISSUER', provider.issuer)
  vi.stubEnv('OIDC_CLIENT_ID', 'mills')
  vi.stubEnv('OIDC_CLIENT_SECRET', SECRET)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await site.stop()
  await provider[Symbol.asyncDispose]()
})

/** A visitor's way to the provider and back. */
async function visitProvider(): Promise<{ callback: URL; cookie: string }> {
  const start = await fetch(`${origin}/oauth/start`, { redirect: 'manual' })
  const back = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
  const [cookie = ''] = (start.headers.getSetCookie()[0] ?? '').split(';')
  return { callback: new URL(back.headers.get('location') ?? ''), cookie }
}

async function finish({ callback, cookie }: { callback: URL; cookie: string }) {
  const answer = await fetch(callback, { redirect: 'manual', headers: { Cookie: cookie } })
  const text = await answer.text()
  const identity = answer.status === 200 ? (JSON.parse(text) as { identity: unknown }).identity : undefined
  return { status: answer.status, identity, cleared: answer.headers.getSetCookie().join() }
}

/** What the server has reported. */
const failures = () => site.logs.filter(({ level }) => Number(level) >= 50)

const without = (name: string, claims: JWTPayload): JWTPayload =>
  Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name))
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsigned = (claims: JWTPayload, alg: string): string => `${part({ alg })}.${part(claims)}.`

test('whoever the provider names is who has signed in', async () => {
  const { status, identity } = await finish(await visitProvider())
  expect([status, identity]).toEqual([200, { issuer: provider.issuer, subject: '7', email: 'eve@example.com' }])
})

test.for([
  null,
  undefined,
  '',
  'eve',
  7,
  true,
  {},
  ['eve@example.com'],
  'eve\0@example.com',
  `${'e'.repeat(200)}@a.test`,
])('an address %j is none that the provider has verified', async (email) => {
  provider.forge = (claims) => ({ ...claims, email })
  const { status, identity } = await finish(await visitProvider())
  expect([status, identity]).toEqual([200, { issuer: provider.issuer, subject: '7' }])
})

test.for([
  [{ sub: '7', email: 'eve@example.com', email_verified: true }, 'eve@example.com'],
  [{ sub: '7', email: 'eve@example.com', email_verified: false }, undefined],
  [{ sub: '7' }, undefined],
])('an address that only the UserInfo endpoint says: %j', async ([userinfo, email]) => {
  provider.user = { sub: '7' }
  Object.assign(provider, { userinfo })
  const { status, identity } = await finish(await visitProvider())
  expect([status, identity]).toEqual([200, { issuer: provider.issuer, subject: '7', email }])
})

test('what the UserInfo endpoint says of somebody else signs nobody in', async () => {
  provider.user = { sub: '7' }
  provider.userinfo = { sub: '8', email: 'ann@example.com', email_verified: true }
  const { identity } = await finish(await visitProvider())
  expect(identity ?? null).toBeNull()
})

test('a callback that belongs to no sign-in leaves the one that has begun', async () => {
  const begun = await visitProvider()
  const stranger = await finish({
    callback: new URL(`${origin}/oauth/callback?state=made&code=x`),
    cookie: begun.cookie,
  })
  expect([stranger.identity, stranger.cleared]).toEqual([null, ''])
  expect((await finish(begun)).identity).toMatchObject({ subject: '7' })
})

describe('nobody is signed in by an ID token', () => {
  const now = Math.floor(Date.now() / 1_000)
  test.for([
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.test' })],
    ['for another client', (claims) => ({ ...claims, aud: 'others' })],
    ['for several clients, of which another is the party', (claims) => ({ ...claims, aud: ['mills', 'x'], azp: 'x' })],
    ['that has expired', (claims) => ({ ...claims, iat: now - 7_200, exp: now - 3_600 })],
    ['that is not valid yet', (claims) => ({ ...claims, nbf: now + 3_600 })],
    ['without an end', (claims) => without('exp', claims)],
    ['without a subject', (claims) => without('sub', claims)],
    ['with a nonce of another request', (claims) => ({ ...claims, nonce: 'of-another' })],
    ['that nobody has signed', (claims) => unsigned(claims, 'none')],
    [
      'that is signed with the secret of the client',
      (claims) => {
        const text = unsigned(claims, 'HS256')
        return text + createHmac('sha256', SECRET).update(text.slice(0, -1)).digest('base64url')
      },
    ],
    ['that is none', () => 'a.b.c'],
    ['that is empty', () => ''],
  ] as const satisfies readonly (readonly [string, OpenidProvider['forge']])[])('%s', async ([, forge]) => {
    provider.forge = forge
    const { status, identity, cleared } = await finish(await visitProvider())
    expect([200, 500]).toContain(status)
    expect(identity ?? null).toBeNull()
    // It is used up all the same.
    expect(cleared).toContain('__Host-oauth=; Max-Age=0')
  })
})

describe('nobody is signed in by a callback', () => {
  test.for([
    ['with another state', (to) => to.searchParams.set('state', 'x')],
    ['without a state', (to) => to.searchParams.delete('state')],
    ['with two states', (to) => to.searchParams.append('state', 'x')],
    ['without a code', (to) => to.searchParams.delete('code')],
    ['with two codes', (to) => to.searchParams.append('code', 'x')],
    ['with a code that nobody has given', (to) => to.searchParams.set('code', 'x')],
    ['in the name of another issuer', (to) => to.searchParams.set('iss', 'https://evil.test')],
    ['with a token besides', (to) => to.searchParams.set('response', 'x.y.z')],
    ['of another kind of sign-in', (to) => to.searchParams.set('id_token', 'x')],
    ['with an access token', (to) => to.searchParams.set('token', 'x')],
    ['with two issuers', (to) => (to.searchParams.append('iss', 'x'), to.searchParams.append('iss', 'x'))],
    ['with an empty code', (to) => to.searchParams.set('code', '')],
    ['with a huge code', (to) => to.searchParams.set('code', 'x'.repeat(6_000))],
    ['with a code of no characters', (to) => to.searchParams.set('code', '\0\ud800\n')],
    ['with a refusal', (to) => to.searchParams.set('error', 'access_denied')],
    ['with a refusal that has any text', (to) => to.searchParams.set('error', '<\0\n\u{1F600}>'.repeat(200))],
    ['with two refusals', (to) => (to.searchParams.append('error', 'x'), to.searchParams.append('error', 'y'))],
  ] as const satisfies readonly (readonly [string, (to: URL) => void])[])('%s', async ([, change]) => {
    const visit = await visitProvider()
    change(visit.callback)
    const { status, identity } = await finish(visit)
    expect([status, identity]).toEqual([200, null])
    expect(failures()).toEqual([])
  })

  test.for(['.', 'a', 'a.b', `${'x'.repeat(43)}.${'y'.repeat(9_000)}`, '%zz.%zz', '"a.b"', `${'x'.repeat(43)}.%00`])(
    'of a browser with the cookie %s',
    async (cookie) => {
      provider.misbehave = (pathname, res) => {
        // What providers say of a verifier that has another form than theirs.
        if (pathname === '/token') {
          res.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_request"}')
        }
        return pathname === '/token'
      }
      const callback = new URL('/oauth/callback?code=x', origin)
      callback.searchParams.set('state', decodeURIComponent(cookie.replaceAll('%zz', 'z')).split('.')[0] ?? '')
      const { status, identity } = await finish({ callback, cookie: `__Host-oauth=${cookie}` })
      expect([status, identity]).toEqual([200, null])
      expect(failures()).toEqual([])
    },
  )

  test.for([
    ['a target', 'http://evil.test', 'evil.test'],
    ['a Host', '', 'evil.test'],
  ] as const)(
    'where %s names another site: the provider hears our own address all the same',
    async ([, before, host]) => {
      const { callback, cookie } = await visitProvider()
      const target = before + callback.pathname + callback.search
      const answer = await requestRaw(Number(callback.port), getRequest(target, { Host: host, Cookie: cookie }))
      // The provider of the tests gives no token for another address than that of the start.
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { identity: { subject: '7' } }])
    },
  )
})

describe('a provider', () => {
  test.for([
    ['that is out of order', (res) => void res.writeHead(503).end('later')],
    ['that answers with a page', (res) => void res.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>hello</p>')],
    [
      'that answers with half of it',
      (res) => void res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"a'),
    ],
    ['that hangs up', (res) => void res.destroy()],
    ['that leads elsewhere', (res) => void res.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end()],
  ] as const satisfies readonly (readonly [string, (res: ServerResponse) => void])[])(
    '%s fails the visitor who asks, and signs in the next one when it is well again',
    async ([, answer]) => {
      for (const broken of ['/.well-known/openid-configuration', '/token']) {
        const visit = broken === '/token' ? await visitProvider() : undefined
        provider.misbehave = (pathname, res) => {
          if (pathname === broken) answer(res)
          return pathname === broken
        }
        if (visit === undefined) expect((await fetch(`${origin}/oauth/start`, { redirect: 'manual' })).status).toBe(500)
        else expect((await finish(visit)).status).toBe(500)
        provider.misbehave = undefined
        expect((await finish(await visitProvider())).identity).toMatchObject({ subject: '7' })
      }
    },
  )
})
