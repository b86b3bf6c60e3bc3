import { Suspense, use } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { eventStream } from '../../src/server/api/event-stream.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { permanentRedirect, redirect } from '../../src/shared/control-flow.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { httpUpstream } from './proxy-setup.ts'

const hello = page(() => <h1>Hello</h1>)
const publicRule = {
  headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }],
}

describe('what caches may keep', () => {
  test('a page that a rule makes public carries no nonce; its failures are not kept at all', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } }, rules: publicRule })
    const open = await request(app).get('/').expect(200)
    expect(open.headers['cache-control']).toBe('public, max-age=60')
    expect(open.headers['content-security-policy']).not.toContain('nonce')
    const missing = await request(app).get('/nope').expect(404)
    expect(missing.headers['cache-control']).toBe('no-store')
  })

  test('a streamed page holds inline scripts, so nobody may share it, whatever a rule says', async () => {
    const Late = ({ value }: { value: Promise<string> }) => <b>{use(value)}</b>
    const { app } = tinyApp({
      rules: publicRule,
      routes: {
        '/': {
          page: page(({ data }: { data: { value: Promise<string> } }) => (
            <Suspense fallback="waiting">
              <Late value={data.value} />
            </Suspense>
          )),
          loader: moduleOf({ loader: () => ({ value: new Promise((resolve) => setTimeout(resolve, 10, 'x')) }) }),
        },
      },
    })
    const answer = await request(app).get('/').expect(200)
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    expect(answer.headers['content-security-policy']).toContain('nonce')
  })

  const readCookie = ({ context }: LoaderArgs) => ({ theme: context.cookie('theme') ?? null })
  test.for([
    ['nothing', () => ({})],
    ['a cookie', readCookie],
  ] as const)(
    'a page that suspends for one URL is still shared by others, where its loader reads %s',
    async ([, loader]) => {
      const charts = new Map<string, Promise<string>>()
      const Chart = ({ of }: { of: string }) => {
        if (!charts.has(of)) charts.set(of, new Promise((resolve) => setTimeout(resolve, 10, 'chart')))
        return <b>{use(charts.get(of) as Promise<string>)}</b>
      }
      const { app } = tinyApp({
        rules: publicRule,
        routes: {
          '/': {
            page: page(({ search }: { search: { tab?: string } }) => (
              <Suspense fallback="waiting">{search.tab === undefined ? 'text' : <Chart of={search.tab} />}</Suspense>
            )),
            loader: moduleOf({ loader: loader as never }),
          },
        },
      })
      const cachingOf = async (url: string) => (await request(app).get(url).expect(200)).headers['cache-control']
      const [first, chart] = [await cachingOf('/'), await cachingOf('/?tab=chart')]
      expect([first, chart, await cachingOf('/'), await cachingOf('/?x=1')]).toEqual([
        'public, max-age=60',
        'private, no-cache',
        'public, max-age=60',
        'public, max-age=60',
      ])
    },
  )

  test("a page is shared whatever a visitor's HTML says, where React's own script has it", async () => {
    const html = '<b>x</b>addEventListener("submit", (event) => {})'
    const { app } = tinyApp({
      rules: publicRule,
      routes: {
        '/': { page: page(() => <div dangerouslySetInnerHTML={{ __html: html }} />) },
        '/form': { page: page(() => <form action={() => undefined} />) },
      },
    })
    const cachingOf = async (url: string) => (await request(app).get(url).expect(200)).headers['cache-control']
    expect([await cachingOf('/'), await cachingOf('/form')]).toEqual(['public, max-age=60', 'private, no-cache'])
  })

  const COOKIE = { 'Set-Cookie': 'a=b' }
  test.for([
    ['the handler', 'public, max-age=60', COOKIE, 'private, no-store'],
    ['the handler', 'max-age=60', COOKIE, 'private, no-store'],
    ['the handler', 'private="set-cookie", max-age=60', COOKIE, 'private, no-store'],
    ['the handler', 'private, max-age=60', COOKIE, 'private, max-age=60'],
    ['the handler', 'no-store', COOKIE, 'no-store'],
    ['the handler', undefined, COOKIE, 'private, no-cache'],
    ['the handler', 'public, max-age=60', {}, 'public, max-age=60'],
    ['a rule', 'public, max-age=60', COOKIE, 'private, no-store'],
    ['a rule', 'public, max-age=60', {}, 'public, max-age=60'],
  ] as const)(
    'a resource route of which %s says `%s` before which middleware sets %o: `%s`',
    async ([who, value, preset, sent]) => {
      const said = value === undefined ? {} : { 'Cache-Control': value }
      const GET = (): Response => new Response('open', { headers: who === 'the handler' ? said : {} })
      const { app } = tinyApp({
        ...(who === 'a rule' ? { rules: publicRule } : {}),
        routes: { '/open': { handler: moduleOf({ GET }) } },
        middleware: [(_req, res, next) => (res.setHeaders(new Map(Object.entries(preset))), next())],
      })
      const answer = await request(app).get('/open').expect(200)
      expect(answer.headers['cache-control']).toBe(sent)
      expect(answer.headers['set-cookie']).toEqual('Set-Cookie' in preset ? ['a=b'] : undefined)
    },
  )

  test('no redirect that is thrown for one visitor is public, whatever a rule says', async () => {
    const leave = ({ context }: LoaderArgs): never => {
      context.headers.append('Set-Cookie', 'session=secret')
      redirect('/b')
    }
    const verdict = (): never => permanentRedirect('/b')
    const byCookie = ({ context }: LoaderArgs): never => (context.cookie('a') === '1' ? redirect('/b') : redirect('/c'))
    const GET = (): Response => new Response('x')
    const save = action({ handler: () => redirect('/b') })
    const { app } = tinyApp({
      rules: publicRule,
      routes: {
        '/loader': { page: hello, loader: moduleOf({ loader: leave }) },
        '/guard': { page: hello, guard: moduleOf({ guard: leave }) },
        '/verdict': { page: hello, guard: moduleOf({ guard: verdict }) },
        '/by-cookie': { page: hello, loader: moduleOf({ loader: byCookie }) },
        '/guarded-handler': { guard: moduleOf({ guard: verdict }), handler: moduleOf({ GET }) },
        '/handler': { handler: moduleOf({ GET: leave }) },
        '/b': { page: hello },
      },
      actions: { 'actions.server.ts': { save } },
    })
    const caching = async (path: string): Promise<unknown> =>
      (
        await request(app)
          .get(path)
          .redirects(0)
          .expect('Location', /^\/[bc]$/)
      ).headers['cache-control']
    expect(await caching('/loader')).toBe('private, no-store')
    expect(await caching('/guard')).toBe('private, no-store')
    expect(await caching('/verdict')).toBe('private, no-cache')
    expect(await caching('/by-cookie')).toBe('no-store')
    expect(await caching('/guarded-handler')).toBe('private, no-cache')
    expect(await caching('/handler')).toBe('private, no-store')
    const form = request(app).post(`/b?_action=${actionId('actions.server.ts', 'save')}.1`)
    expect((await form.type('form').send('a=1').expect(303)).headers['cache-control']).toBe('no-store')
  })

  test.for([
    [{}, 'public, max-age=60'],
    [{ 'Set-Cookie': 'a=b' }, 'private, no-store'],
  ] as const)('the redirect of a rule before which middleware sets %o: `%s`', async ([preset, sent]) => {
    const { app } = tinyApp({
      rules: { ...publicRule, redirects: [{ source: '/old', destination: '/', permanent: true }] },
      routes: { '/': { page: hello } },
      middleware: [(_req, res, next) => (res.setHeaders(new Map(Object.entries(preset))), next())],
    })
    const answer = await request(app).get('/old').expect(308)
    expect(answer.headers['cache-control']).toBe(sent)
  })

  test('nobody shares an event stream, whatever a rule says', async () => {
    const GET = (): Response => eventStream(({ end }) => end())
    const { app } = tinyApp({ rules: publicRule, routes: { '/events': { handler: moduleOf({ GET }) } } })
    const answer = await request(app).get('/events').expect(200)
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('a rule makes what another origin answers public, but not its failures', async () => {
    await using upstream = await httpUpstream((req, res) => {
      if (req.url === '/up/gone/says') res.setHeader('Cache-Control', 'max-age=5')
      if (req.url === '/up/gone/expires') res.setHeader('Expires', 'Thu, 01 Jan 2099 00:00:00 GMT')
      res.writeHead(req.url?.startsWith('/up/gone') ? 404 : 200).end('from there')
    })
    const rewrites = [{ source: '/up/:path*', destination: `http://127.0.0.1:${upstream.port}/up/:path*` }]
    const { app } = tinyApp({ rules: { ...publicRule, rewrites }, routes: { '/': { page: hello } } })
    expect((await request(app).get('/up/there').expect(200)).headers['cache-control']).toBe('public, max-age=60')
    const caching = async (url: string) => (await request(app).get(url).expect(404)).headers['cache-control']
    expect(await caching('/up/gone')).toBe('no-store')
    expect(await caching('/up/gone/says')).toBe('max-age=5')
    expect(await caching('/up/gone/expires')).toBeUndefined()
  })

  test('a loader that looks at a header says so, beside the encoding', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          page: hello,
          loader: moduleOf({
            loader: ({ context }: LoaderArgs) => void context.headers.set('Vary', 'Accept-Language'),
          }),
        },
      },
    })
    const answer = await request(app).get('/').expect(200)
    expect(answer.headers['vary']).toBe('Accept-Encoding, Accept-Language')
  })
})

test('a component that waits for ever without a loader is given up as well', async () => {
  const never = new Promise<string>(() => undefined)
  const Waiting = () => <b>{use(never)}</b>
  const { app } = tinyApp({
    environment: { RENDER_TIMEOUT_MS: '50' },
    routes: { '/': { page: page(() => <Waiting />) } },
  })
  const answer = await request(app).get('/').expect(500)
  expect(answer.text).toContain('Application error: a server-side exception has occurred')
})
