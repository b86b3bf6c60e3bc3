/** What caches in front must not keep, whatever a rule, a loader or a handler says to all of them or to some. */
import type { NextFunction, Request, Response as ServerResponse } from 'express'
import { Suspense, use } from 'react'
import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { defineSession } from '../../../src/server/secrets/define-session.ts'
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
      (req: Request, res: ServerResponse, next: NextFunction) => {
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

test('headers for some caches go only with answers that Cache-Control lets be shared', async () => {
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

test('an answer for which somebody is signed in is not public', async () => {
  const session = defineSession({ schema: z.object({ user: z.string() }) })
  const nameOf = async ({ context }: LoaderArgs) => (await session.open(context)).data?.user ?? 'nobody'
  const says = (context: LoaderArgs['context']) => context.headers.set('Cache-Control', 'public, max-age=60')
  const site = tinyApp({
    routes: {
      '/sign-in': {
        handler: moduleOf({
          async POST({ context }: LoaderArgs) {
            await (await session.open(context)).set({ user: 'ann' })
            return new Response('')
          },
        }),
      },
      '/page': {
        page: page(({ data }: { data: { name: string } }) => <p>{data.name}</p>),
        loader: moduleOf({
          async loader(args: LoaderArgs) {
            says(args.context)
            return { name: await nameOf(args) }
          },
        }),
      },
      '/api': {
        handler: moduleOf({
          async GET(args: LoaderArgs) {
            return new Response(await nameOf(args), { headers: { 'Cache-Control': 'public, max-age=60' } })
          },
        }),
      },
    } as never,
  })
  const signed = await request(site.app).post('/sign-in').set('Host', 'mills.example')
  const Cookie = signed.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  for (const [path, byDefault] of [
    ['/page', 'private, no-cache'],
    ['/api', 'private, no-cache'],
    ['/_m/data/page', 'private, no-store'],
  ] as const) {
    const stranger = await visit(site, path)
    expect([path, stranger.headers['cache-control']]).toEqual([path, 'public, max-age=60'])
    const ann = await visit(site, path, { Cookie })
    expect(ann.text).toContain('ann')
    expect([path, ann.headers['cache-control']]).toEqual([path, byDefault])
  }
})

test('what a handler calls private is not shared, whatever a rule says', async () => {
  const answers = ['private, max-age=5', 'no-store', 'private="x-name", max-age=5', 'max-age=5', undefined]
  const GET = ({ search }: LoaderArgs) => {
    const value = answers[Number(search['n'])]
    return new Response('', value === undefined ? {} : { headers: { 'Cache-Control': value } })
  }
  const ruled = 'public, max-age=60'
  const site = tinyApp({
    routes: { '/api': { handler: moduleOf({ GET }) } },
    rules: { headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: ruled }] }] },
  })
  const sent: unknown[] = []
  for (const n of answers.keys()) sent.push((await visit(site, `/api?n=${n}`)).headers['cache-control'])
  expect(sent).toEqual(['private, max-age=5', 'no-store', ruled, ruled, ruled])
})
