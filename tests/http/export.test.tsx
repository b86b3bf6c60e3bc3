import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { Suspense, use } from 'react'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Link } from '../../src/client/react/link.tsx'
import type { HandlerArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import type { RouteDefinitions } from '../../src/shared/route-definition.ts'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import { exported, hello, temporaryFolder, type Definition } from '../support/exported-site.tsx'
import { recordsOf } from '../support/route-data.ts'
import { moduleOf, page } from '../support/tiny-app.tsx'

/** Milliseconds of what a page waits for. */
const waits = { layout: 8, late: 3, later: 0 }

const SITE: Definition = {
  routes: {
    '/': {
      layout: page(({ children }: { children: unknown }) => <main>{children as never}</main>),
      layoutLoader: moduleOf({ guards: false, loader: () => delay(waits.layout, { at: new Date(0) }) }),
      page: page(() => (
        <>
          <Link href="/mills/a%20b">A</Link>
          <a href="/old?x=1#y">Old</a>
          <a href="https://elsewhere.example/">Away</a>
          <img alt="" src="/robots.txt" />
        </>
      )),
      notFound: page(() => <h1>Not here</h1>),
    },
    '/mills/[id]': {
      page: page(({ params, data }: { params: { id: string }; data: { late: Promise<string> } }) => (
        <h1>
          {params.id}
          <Suspense>
            <Late late={data.late} />
          </Suspense>
        </h1>
      )),
      loader: moduleOf({
        async *paths() {
          yield { id: 'a b' }
          yield { id: 'ü' }
        },
        loader: () => ({ late: delay(waits.late, 'late'), later: delay(waits.later, new Map([[1, 2]])) }),
      }),
    },
    '/gone': { page: hello, loader: moduleOf({ loader: () => redirect('/mills/ü') }) },
    '/[locale]/about': { params: { locale: ['de', 'en'] }, page: hello },
    '/old.html': { page: hello },
    '/robots.txt': { handler: moduleOf({ GET: () => new Response('User-agent: *\n') }) },
    '/sitemap.txt': {
      handler: moduleOf({ GET: ({ context }: HandlerArgs) => new Response(`${context.origin ?? ''}/mills`) }),
    },
  },
  rules: { redirects: [{ source: '/old', destination: '/mills/a%20b', permanent: true }] },
}

function Late({ late }: { late: Promise<string> }) {
  return <i>{use(late)}</i>
}

test('each page is a file with its data, and so are redirects, missing pages and files of handlers', async () => {
  const { folder, names, read } = await temporaryFolder()
  const report = await exported(folder, SITE)
  const pages = ['', 'de/about/', 'en/about/', 'gone/', 'mills/a b/', 'mills/ü/', 'old/', 'old.html/']
  const files = pages.map((name) => (name === 'old.html/' ? 'old.html' : `${name}index.html`))
  const data = pages.map((name) => `_m/data/${name}all.data`)
  expect(await names()).toEqual(
    [
      '.millrace-export.json',
      '.nojekyll',
      '404.html',
      '_m/build.json',
      'robots.txt',
      'sitemap.txt',
      ...files,
      ...data,
    ].toSorted(),
  )
  expect(report).toMatchObject({ pages: pages.length, leftOut: [] })

  const mill = await read('mills/a b/index.html')
  // React's own script for what streams in would be refused by the policy.
  expect(mill).toMatch(/<h1>a b(?:<!--.*?-->)*<i>late<\/i>/)
  expect(mill).toContain('"files":true')
  const [, policy = ''] =
    /<head><meta charset="utf-8"\/><meta http-equiv="Content-Security-Policy" content="([^"]*)"\/>/.exec(mill) ?? []
  expect(policy).toMatch(/script-src &#39;self&#39; &#39;sha256-[^;]+&#39;;/)
  expect(policy).not.toMatch(/nonce|unsafe-inline.*script|frame-ancestors|report/)
  expect(await read('404.html')).toContain('<h1>Not here</h1>')
  expect(await read('old/index.html')).toMatch(
    /http-equiv="refresh" content="0;url=\/mills\/a%20b".*rel="canonical".*<a href="\/mills\/a%20b">/,
  )
  expect(await read('gone/index.html')).toContain('content="0;url=/mills/%C3%BC"')
  expect(await read('robots.txt')).toBe('User-agent: *\n')
  expect(await read('_m/data/gone/all.data')).toContain('"redirect":{"to":"/mills/%C3%BC"}')

  const records = recordsOf(await read('_m/data/mills/ü/all.data'))
  expect(records[0]).toMatchObject({ build: 'development', route: '/mills/[id]' })
  const segments = records.flatMap(({ segment }) => segment ?? [])
  expect(segments).toEqual(['/#layout', '/mills/[id]#page'])
})

test('loaders run once for a page: its data is what its document was made of', async () => {
  const { folder, read } = await temporaryFolder()
  const run = { count: 0 }
  const loader = () => ({ count: ++run.count, late: Promise.resolve(new Map([[1, run.count]])) })
  const shown = page(({ data }: { data: { count: number } }) => <h1>Run {String(data.count)}</h1>)
  const leads = () => redirect(++run.count > 0 ? '/' : '/never')
  const routes = {
    '/': { page: shown, loader: moduleOf({ loader }) },
    '/kept': { cache: 'shared' as const, page: shown, loader: moduleOf({ loader }) },
    '/leads': { page: shown, loader: moduleOf({ loader: leads }) },
  }
  await exported(folder, { routes })
  expect(run.count).toBe(3)
  for (const name of ['', 'kept/']) {
    const [, count] = /Run (?:<!-- -->)?(\d)/.exec(await read(`${name}index.html`)) ?? []
    expect(await read(`_m/data/${name}all.data`)).toMatch(RegExp(`count\\\\*":\\D*${count}`))
  }
})

test('the application answers a stranger from elsewhere, not a client of its own machine', async () => {
  const { folder, names, read } = await temporaryFolder()
  const intern: RequestHandler = ({ ip, path }, res, next) => {
    if (path === '/intern' && ip?.includes('127.0.0.1') === false) res.sendStatus(403)
    else next()
  }
  const handler = moduleOf({
    GET: ({ context, request }: HandlerArgs) => new Response(`${context.origin ?? request.url}/mills`),
  })
  const routes = { '/intern': { page: hello }, '/sitemap.txt': { handler } }
  const environment = { ORIGIN: 'http://localhost' }
  const { leftOut } = await exported(folder, { middleware: [intern], routes }, { isPartial: true, environment })
  expect(leftOut).toMatchObject([{ what: '/intern', reason: 'its answer is 403' }])
  expect(await names()).not.toContain('intern/index.html')
  expect(await read('sitemap.txt')).toBe('http://localhost/mills')
})

test('the same application gives the same bytes, and files that are the same keep their time', async () => {
  const [one, other] = [await temporaryFolder(), await temporaryFolder()]
  await exported(one.folder, SITE)
  Object.assign(waits, { layout: 0, late: 0, later: 3 })
  await exported(other.folder, SITE)
  for (const name of await one.names()) expect([name, await other.read(name)]).toEqual([name, await one.read(name)])
  const file = join(one.folder, 'mills/ü/index.html')
  await utimes(file, 1_000, 1_000)
  const { '/[locale]/about': _about, ...rest } = SITE.routes
  const changed = { ...rest, '/old.html': { page: page(() => <h1>Changed</h1>) } }
  await exported(one.folder, { ...SITE, routes: changed })
  expect((await stat(file)).mtimeMs).toBe(1_000_000)
  expect(await one.read('old.html')).toContain('Changed')
  expect((await one.names()).filter((name) => name.includes('about'))).toEqual([])
})

describe('what cannot be a file', () => {
  const loader = (run: (args: LoaderArgs) => unknown) => ({ page: hello, loader: moduleOf({ loader: run }) })
  const handler = (GET: (args: HandlerArgs) => unknown) => ({ handler: moduleOf({ GET }) })
  const routes: RouteDefinitions = {
    '/': { page: hello },
    '/guarded': { guard: moduleOf({ guard: () => undefined }) },
    '/guarded/[id]': { page: hello },
    '/posts': { page: hello },
    '/api': { handler: moduleOf({ GET: () => new Response('') }) },
    '/files/[id]': { handler: moduleOf({ GET: () => new Response('') }) },
    '/guarded/report.csv': handler(() => new Response('')),
    '/own-guard.csv': { guard: moduleOf({ guard: () => undefined }), ...handler(() => new Response('')) },
    '/handler-cookie.json': handler(({ context }) => Response.json(context.origin ?? context.cookie('user') ?? '')),
    '/handler-address.json': handler(({ context }) => Response.json(context.address)),
    '/handler-url.json': handler(({ request }) => Response.json(new URL(request.url).searchParams.get('q'))),
    '/handler-request.json': handler(({ request }) => Response.json(request.headers.get('user-agent'))),
    '/handler-secrets.txt': handler(({ context }) => new Response(typeof context.secrets)),
    '/handler-after.txt': handler(({ context }) => new Response(String(context.after(() => undefined)))),
    '/handler-query.json': handler(({ search }) => Response.json(search)),
    '/handler-late.txt': handler(({ context }) => {
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        await delay(1)
        controller.enqueue(new TextEncoder().encode(context.cookie('late') ?? 'x'))
        controller.close()
      }
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
    }),
    '/handler-private.txt': handler(() => new Response('', { headers: { 'Cache-Control': 'max-age=1, Private' } })),
    '/handler-given.txt': handler(({ context }) => {
      context.headers.set('Cache-Control', 'no-store')
      return new Response('')
    }),
    '/handler-missing.txt': handler(() => notFound()),
    '/events.txt': handler(() => new Response('x', { headers: { 'Content-Type': 'text/event-stream' } })),
    '/variants': { page: hello, cache: 'shared', variants: { language: () => 'de' } },
    '/slot': { page: hello, loader: moduleOf({ loader: () => 1, visitor: () => 2 }) },
    '/searched': { page: hello, loader: moduleOf({ search: z.object({}) }) },
    '/reads-search': loader(({ search }) => search['q'] ?? ''),
    '/shows-search': { page: page(({ search }: { search: { q?: string } }) => <p>{search.q}</p>) },
    '/cookie': loader(({ context }) => context.cookie('user') ?? ''),
    '/deferred-cookie': loader(({ context }) => ({ late: delay(1).then(() => context.cookie('late') ?? '') })),
    '/missing': loader(() => notFound()),
    '/broken': loader(() => {
      throw new Error('broken')
    }),
    '/unlisted/[id]': { page: hello },
    '/up/[[...path]]': {
      page: hello,
      loader: moduleOf({
        paths: () => [
          { path: ['..', 'etc'] },
          { path: ['a/b'] },
          { path: ['a\0b'] },
          { path: ['x'.repeat(256)] },
          { path: 'x' },
        ],
      }),
    },
    '/case/[id]': {
      page: hello,
      loader: moduleOf({ paths: async () => [{ id: 'Mill' }, { id: 'mill' }, { id: 'u\u0308' }, { id: '\u00fc' }] }),
    },
    '/both/[id]': {
      page: hello,
      loader: moduleOf({ paths: () => [{ id: 'Index.html' }, { id: 'all.data' }, { id: 'index.html.x' }] }),
    },
    // Ready later than those whose names would be the same.
    '/both': loader(() => delay(20)),
    '/all.data/[id]': { page: hello, loader: moduleOf({ paths: () => [{ id: '1' }] }) },
    '/file.html': loader(() => delay(20)),
    '/file.html/[id]': { page: hello, loader: moduleOf({ paths: () => [{ id: '1' }] }) },
    '/failing/[id]': {
      page: hello,
      loader: moduleOf({
        *paths() {
          yield { id: '1' }
          throw new Error('no database')
        },
      }),
    },
  }
  const rules: Definition['rules'] = {
    redirects: [
      { source: '/any/:id', destination: '/', permanent: true },
      { source: '/icon.ico', destination: '/', permanent: true },
      { source: '/has', has: [{ type: 'cookie', key: 'a' }], destination: '/', permanent: true },
    ],
    rewrites: [{ source: '/proxied', destination: 'https://elsewhere.example/' }],
  }
  const definition = { routes, rules }
  const options = { actionSegments: ['/posts#page'] }
  const faults = [
    ['/api', /handler/],
    ['/all.data/1 (/all.data/[id])', /'all.data' is the file of its folder's data/],
    ['/both/Index.html (/both/[id])', /'Index.html' is the file of its folder's page/],
    ['/both/all.data (/both/[id])', /'all.data' is the file of its folder's data/],
    ['/file.html/1 (/file.html/[id])', /file.html would be both a file and a folder/],
    ['/broken', /500/],
    ['/case/mill (/case/[id])', /differs by case alone/],
    ['/case/%C3%BC (/case/[id])', /differs by case alone/],
    ['/cookie', /cookie user/],
    ['/deferred-cookie', /cookie late/],
    ['/failing/[id]', /no database/],
    ['/files/[id]', /handler/],
    ['/guarded/[id]', /guard/],
    ['/guarded/report.csv', /guard/],
    ['/own-guard.csv', /guard/],
    ['/handler-cookie.json', /cookie user/],
    ['/handler-address.json', /address/],
    ['/handler-request.json', /request\.headers/],
    ['/handler-url.json', /request\.url/],
    ['/handler-query.json', /query/],
    ['/handler-secrets.txt', /secrets/],
    ['/handler-after.txt', /after/],
    ['/handler-late.txt', /cookie late/],
    ['/handler-private.txt', /Cache-Control: private/],
    ['/handler-given.txt', /Cache-Control: no-store/],
    ['/handler-missing.txt', /404/],
    ['/events.txt', /event stream/],
    ['/missing', /404/],
    ['/posts', /actions/],
    ['/reads-search', /query/],
    ['/searched', /query/],
    ['/shows-search', /query/],
    ['/slot', /slot/],
    ['/variants', /variants/],
    ['/unlisted/[id]', /paths\(\)/],
    ['/up/[[...path]]', /dot segment/],
    ['/up/[[...path]]', /not text/],
    [/^\/up\/a%00b/, /control character/],
    [/^\/up\/a%2Fb/, /slash/],
    [/^\/up\/x+ /, /255 bytes/],
    ['redirect /any/:id', /any number/],
    ['redirect /has', /conditions/],
    ['redirect /icon.ico', /kind of file/],
    ['rewrite /proxied', /another server/],
  ] as const

  test('stops the export with all routes and reasons, and nothing has changed', async () => {
    const { folder, names } = await temporaryFolder()
    const failure: unknown = await exported(folder, definition, options).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ name: 'ExportError', kind: 'unfit' })
    const { faults: found, message } = failure as { faults: { what: string; reason: string }[]; message: string }
    for (const [what, reason] of faults) {
      const named = found.filter((fault) => (typeof what === 'string' ? fault.what === what : what.test(fault.what)))
      expect([what, named.some((fault) => reason.test(fault.reason))]).toEqual([what, true])
    }
    expect(found).toHaveLength(faults.length)
    expect(message).toContain('--partial')
    expect(await names()).toEqual([])
  })

  test('is left out of a partial export and named', async () => {
    const { folder, names } = await temporaryFolder()
    const { leftOut } = await exported(folder, definition, { ...options, isPartial: true })
    expect(leftOut).toHaveLength(faults.length)
    // Of two names that are one, the page that is listed first has it.
    expect((await names()).filter((name) => name.endsWith('.html') && name !== '404.html')).toEqual(
      [
        'both/index.html',
        'both/index.html.x/index.html',
        'case/Mill/index.html',
        'case/u\u0308/index.html',
        'failing/1/index.html',
        'file.html',
        'index.html',
      ].toSorted(),
    )
  })
})

describe('a link that leads nowhere', () => {
  const linking = (href: string) => page(() => <a href={href}>x</a>)
  const about = { '/about': { page: hello } }
  test.for([
    ['/nowhere', '/nowhere'],
    ['/about/more', '/about/more'],
    ['/About', '/About'],
    ['more?x#y', '/links/more'],
    ['//localhost:1/x', undefined],
    ['mailto:a@b.example', undefined],
    ['/about#x', undefined],
    ['about', '/links/about'],
    ['../about', undefined],
    ['#nowhere', undefined],
    ['?nowhere', undefined],
  ] as const)('%s', async ([href, named]) => {
    const { folder } = await temporaryFolder()
    const result = exported(folder, { routes: { ...about, '/links': { page: linking(href) } } })
    if (named === undefined) await expect(result).resolves.toMatchObject({ pages: 2 })
    else await expect(result).rejects.toThrow(`  ${named}: a link on /links leads there\n`)
  })

  test('stops a partial export too, unless the application has something there that is left out', async () => {
    const posts = {
      '/posts/[id]': { page: hello },
      '/listed/[id]': { page: hello, loader: moduleOf({ paths: () => [] }) },
    }
    const { folder, read } = await temporaryFolder()
    const link = (href: string) => ({ routes: { ...posts, '/links': { page: linking(href) } } })
    await exported(folder, link('/posts/7'), { isPartial: true })
    // The browser's router asks for no document in vain.
    expect(await read('_m/data/posts/7/all.data')).toBe(
      '{"v":1,"build":"development","document":true}\n{"done":true}\n',
    )
    await expect(exported(folder, link('/listed/7'), { isPartial: true })).rejects.toMatchObject({ kind: 'dead-links' })
    await expect(exported(folder, link('/nowhere'), { isPartial: true })).rejects.toMatchObject({ kind: 'dead-links' })
    expect(await read('links/index.html')).toContain('/posts/7')
  })

  test.for(['\0\u00ff', 'null', '7', '{', '', '{"route":7}'])(
    'may lead to what middleware answers: %j',
    async (body) => {
      const { folder, names } = await temporaryFolder()
      const files: RequestHandler = ({ path }, res, next) => {
        if (path.endsWith('/icon.ico')) res.send(body)
        else next()
      }
      const site = (href: string) => ({ middleware: [files], routes: { '/links': { page: linking(href) } } })
      await exported(folder, site('/icon.ico'), { isPartial: true })
      expect(await names()).not.toContain('icon.ico')
      await expect(exported(folder, site('/nowhere.ico'), { isPartial: true })).rejects.toMatchObject({
        kind: 'dead-links',
      })
    },
  )
})

test('many pages pass through, a few at one time', async () => {
  const { folder, names } = await temporaryFolder()
  const state = { running: 0, most: 0, listed: 0, furthest: 0 }
  const loader = async ({ params }: LoaderArgs) => {
    state.most = Math.max(state.most, (state.running += 1))
    state.furthest = Math.max(state.furthest, state.listed - Number(params['id']))
    await Promise.resolve()
    state.running -= 1
    return params['id']
  }
  function* paths() {
    for (let id = 0; id < 400; id += 1) {
      state.listed = id
      yield { id: String(id) }
    }
  }
  const { pages } = await exported(folder, {
    routes: { '/[id]': { page: hello, loader: moduleOf({ loader, paths }) } },
  })
  expect(pages).toBe(400)
  expect((await names()).filter((name) => name.endsWith('index.html'))).toHaveLength(400)
  expect(state.most).toBeLessThanOrEqual(8)
  expect(state.furthest).toBeLessThanOrEqual(16)
})
