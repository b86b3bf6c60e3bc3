/** Headers that tell only some caches how long to store an answer, and come before `Cache-Control` for them. */
import { Suspense, use } from 'react'
import { expect, test } from 'vitest'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { visit } from '../../support/kept-pages.tsx'
import { fallbacks, moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'
import { deadPort, httpUpstream } from '../proxy-setup.ts'

const TARGETED = 'CDN-Cache-Control'

function Late({ text }: { readonly text: Promise<string> }) {
  return <p>{use(text)}</p>
}

async function site() {
  const upstream = await httpUpstream((req, res) => {
    if (req.url === '/private') res.setHeader('Cache-Control', 'private')
    res.statusCode = req.url === '/missing' ? 404 : 200
    res.end('upstream')
  })
  const rewrite = (source: string, port: number) => ({ source, destination: `http://127.0.0.1:${port}/:path*` })
  const app = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), page: page(() => <p>of one visitor, with a nonce</p>) },
      '/public': {
        page: page(() => <p>for all</p>),
        loader: moduleOf({
          loader({ context }: LoaderArgs) {
            context.headers.set('Cache-Control', 'public, no-cache')
            return {}
          },
        }),
      },
      '/streamed': {
        page: page(({ data }: { data: { late: Promise<string> } }) => (
          <Suspense>
            <Late text={data.late} />
          </Suspense>
        )),
        loader: moduleOf({
          loader({ context }: LoaderArgs) {
            context.headers.set('Cache-Control', 'public, max-age=60')
            return { late: new Promise((resolve) => void setTimeout(resolve, 20, 'late')) }
          },
        }),
      },
      '/failed': {
        page: page(() => null),
        loader: moduleOf({
          loader() {
            throw new Error('failed')
          },
        }),
      },
      '/api': {
        handler: moduleOf({
          GET: ({ request }: LoaderArgs) =>
            request.headers.has('x-fails')
              ? new Response('gone', { status: 410 })
              : Response.json({}, { headers: { 'Cache-Control': 'private, max-age=5' } }),
        }),
      },
    } as never,
    middleware: [
      (req, res, next) => {
        if (req.path === '/up/cookie') res.setHeader('Set-Cookie', 'session=ann')
        next()
      },
    ],
    rules: {
      rewrites: [rewrite('/up/:path*', upstream.port), rewrite('/down/:path*', await deadPort())],
      headers: [{ source: '/:path*', headers: [{ key: TARGETED, value: 'max-age=60' }] }],
    },
  } as never)
  return { app, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() }
}

test('go only with answers that Cache-Control lets be shared', async () => {
  await using setup = await site()
  const sent = async (path: string, headers = {}) => {
    const answer = await visit(setup.app, path, headers)
    return [path, answer.status, answer.headers[TARGETED.toLowerCase()]]
  }
  for (const path of ['/public', '/up/x']) expect(await sent(path)).toEqual([path, 200, 'max-age=60'])
  for (const [path, status, headers] of [
    ['/', 200],
    ['/streamed', 200],
    ['/api', 200],
    ['/api', 410, { 'X-Fails': '1' }],
    ['/missing', 404],
    ['/failed', 500],
    ['/up/missing', 404],
    ['/up/private', 200],
    ['/up/cookie', 200],
    ['/down/x', 502],
  ] as const) {
    expect(await sent(path, headers)).toEqual([path, status, undefined])
  }
})
