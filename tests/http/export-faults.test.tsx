/** What keeps an application, or a path of it, from being files. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { HandlerArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import type { RouteDefinitions } from '../../src/shared/route-definition.ts'
import { notFound } from '../../src/shared/control-flow.ts'
import { exported, hello, temporaryFolder, type Definition } from '../support/exported-site.tsx'
import { moduleOf, page } from '../support/tiny-app.tsx'

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
    ['/up/[[...path]]', /no path can contain one of these texts/],
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
