import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { Suspense, use } from 'react'
import { describe, expect, test } from 'vitest'
import { Link } from '../../src/client/react/link.tsx'
import type { HandlerArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { redirect } from '../../src/shared/control-flow.ts'
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
