/** Headers of answers are bounded, whoever makes them: proxies hold all of them, and a visitor's text may be among them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { sendFile } from '../../../src/server/api/send-file.ts'
import { MAX_HEAD_BYTES } from '../../../src/server/http/header-list.ts'
import { defineSession } from '../../../src/server/secrets/define-session.ts'
import { redirect } from '../../../src/shared/control-flow.ts'
import { portOf } from '../../support/listening.ts'
import { getRequest, requestRaw } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

const LARGE = 'x'.repeat(MAX_HEAD_BYTES)
const session = defineSession({ name: 'session', schema: z.object({ user: z.string() }) })

async function site(upstream = 0) {
  const { app, logs } = tinyApp({
    middleware: [
      (req, res, next) => {
        if (req.url.startsWith('/marked')) res.setHeader('X-Mark', LARGE)
        if (req.url.startsWith('/elsewhere?marked')) res.setHeader('X-Mark', LARGE.slice(0, 12_000))
        next()
      },
    ],
    rules: { rewrites: [{ source: '/elsewhere', destination: `http://127.0.0.1:${upstream}/` }] },
    routes: {
      '/': { ...fallbacks('root'), page: page(() => <h1>Home</h1>) },
      '/marked': { page: page(() => <h1>Marked</h1>) },
      '/loader': {
        loader: moduleOf({
          loader: ({ context }: LoaderArgs) => {
            for (let n = 0; n < 10; n += 1) context.headers.append('Set-Cookie', `c${n}=${'x'.repeat(3_000)}`)
            return {}
          },
        }),
        page: page(() => <h1>Loader</h1>),
      },
      '/redirecting': {
        loader: moduleOf({
          loader: ({ context }: LoaderArgs) => {
            context.headers.set('X-Large', LARGE)
            redirect('/')
          },
        }),
        page: page(() => <h1>Redirecting</h1>),
      },
      '/streamed': {
        loader: moduleOf({
          loader: ({ context }: LoaderArgs) => {
            context.headers.set('X-Large', LARGE)
            return { late: new Promise(() => undefined) }
          },
        }),
        page: page(() => <h1>Streamed</h1>),
      },
      '/marked-handler': { handler: moduleOf({ POST: () => new Response('') }) },
      '/handler': { handler: moduleOf({ GET: () => new Response('', { headers: { 'X-Large': LARGE } }) }) },
      '/file': {
        handler: moduleOf({
          GET() {
            const answer = sendFile('package.json', { root: process.cwd() })
            answer.headers.set('X-Large', LARGE)
            return answer
          },
        }),
      },
      '/sign-in': {
        handler: moduleOf({
          async GET({ context, request }: LoaderArgs) {
            await (await session.open(context)).set({ user: 'ann' })
            redirect(`/welcome?to=${encodeURIComponent(request.url)}`)
          },
        }),
      },
    } as never,
    environment: { SECRET_KEYS: 'a-key-of-this-test-and-of-no-other' },
  })
  app.readiness.markReady()
  const port = await portOf(app)
  return {
    logs,
    port,
    get: (path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> =>
      requestRaw(port, getRequest(path, { Connection: 'close', ...headers })),
  }
}

test.for([
  '/marked',
  '/loader',
  '/streamed',
  '/redirecting',
  '/handler',
  '/file',
  '/_m/data/marked',
  '/_m/data/loader',
  '/_m/data/streamed',
  '/marked/there/is/none',
])('%s is a failure that names the header', async (path) => {
  const { get, logs } = await site()
  const answer = await get(path)
  expect(answer.status).toBe(500)
  expect(answer.header('set-cookie')).toBe(undefined)
  expect(JSON.stringify(logs)).toMatch(
    /The headers of this answer would have \d+ bytes.*The largest is (?:x-|set-cookie)/i,
  )
  expect((await get('/')).status).toBe(200)
})

test('a refusal is answered without the header that middleware has made too large', async () => {
  const { port, logs } = await site()
  const answer = await requestRaw(port, getRequest('/marked-handler', { Connection: 'close' }))
  expect([answer.status, answer.text, answer.header('x-mark')]).toEqual([405, 'Method not allowed\n', undefined])
  expect(JSON.stringify(logs)).toContain('The largest is x-mark')
})

test('an answer of another origin whose headers are too large together with those of middleware is a 502', async () => {
  const upstream = createServer((_req, res) => {
    for (let n = 0; n < 3; n += 1) res.setHeader(`X-${n}`, 'x'.repeat(5_000))
    res.end('elsewhere')
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void upstream.close())
  const { get } = await site((upstream.address() as AddressInfo).port)
  expect((await get('/elsewhere')).status).toBe(200)
  // Node takes 16 KiB of an upstream, and others add to it.
  expect((await get('/elsewhere?marked')).status).toBe(502)
})

test('a redirect to a URL that would be refused is refused, with the cookies that it brings', async () => {
  const { get, logs } = await site()
  const short = await get('/sign-in?a')
  expect([short.status, short.header('location')]).toEqual([307, expect.stringContaining('/welcome?to=http')])
  const query = `?${'%22'.repeat(2_000)}`
  const refused = await get(`/sign-in${query}`)
  expect([refused.status, refused.header('location')]).toEqual([414, undefined])
  expect(refused.header('set-cookie')).toMatch(/^__Host-session=/)
  expect(refused.text).toBe('redirected to a URL that is too long\n')
  expect((await get(`/sign-in${query}`, { Accept: 'text/html' })).header('content-type')).toMatch(/^text\/html/)
  expect(logs.at(-1)).toMatchObject({ status: 414, refused: 'redirected to a URL that is too long' })
})
