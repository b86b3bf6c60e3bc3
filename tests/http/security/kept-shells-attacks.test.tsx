/** What a kept page with slots must not give to others, nor to the caches in front of it. */
import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs, VisitorArgs } from '../../../src/server/api/loader-types.ts'
import { VisitorReads } from '../../../src/server/stores/cache/visitor-reads.ts'
import { defineStoredSession } from '../../../src/server/secrets/define-stored-session.ts'
import { statusOf, visit } from '../../support/kept-pages.tsx'
import { nameInCookie, slotOf, slotted } from '../../support/kept-shells.tsx'
import { fallbacks, moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

const ANN = { Cookie: 'visitor=ann' }
const TARGETED = [
  'CDN-Cache-Control',
  'Netlify-CDN-Cache-Control',
  'Surrogate-Control',
  'Edge-Control',
  'X-Accel-Expires',
]

interface Given {
  readonly data: { readonly visitor: Promise<{ readonly name: string }> }
}

function Name({ data }: Given) {
  return <b id="slot">visitor {use(data.visitor).name}</b>
}

const layout = page(({ children }: { readonly children: ReactNode }) => <>{children}</>)
const bare = page(({ data }: Given) => (
  <Suspense>
    <Name data={data} />
  </Suspense>
))

test.for([null, undefined, 'text', 5, [1, 2]])('a layout around it may load %j', async (value) => {
  const { app } = tinyApp({
    routes: {
      '/': { layout, layoutLoader: moduleOf({ loader: () => value }), ...fallbacks('root') },
      '/kept': { cache: 'shared', page: bare, loader: moduleOf({ visitor: nameInCookie }) },
    } as never,
  })
  for (const headers of [{}, ANN, {}, ANN]) {
    const answer = await visit({ app } as never, '/kept', headers)
    expect([answer.status, slotOf(answer)]).toEqual([200, 'Cookie' in headers ? 'ann' : 'nobody'])
  }
})

test('what visitor has read by context.once does not stand in for what a loader reads', async () => {
  const isLocal = (context: LoaderArgs['context']) =>
    context.once('local', async () => context.address.includes('127.0.0.1'))
  const loader = async ({ context }: LoaderArgs) => {
    await delay(5)
    return { text: (await isLocal(context)) ? 'for this address' : 'for nobody' }
  }
  const layoutVisitor = async ({ context }: VisitorArgs) => ({ isLocal: await isLocal(context) })
  const site = tinyApp({
    routes: {
      '/': { layout, layoutLoader: moduleOf({ layoutVisitor }), ...fallbacks('root') },
      '/kept': {
        cache: 'shared',
        page: page(({ data }: { data: { text: string } }) => <p>{data.text}</p>),
        loader: moduleOf({ loader }),
      },
    } as never,
  })
  for (let round = 0; round < 2; round += 1) {
    const answer = await visit(site, '/kept')
    expect(answer.text).toContain('for this address')
    expect(statusOf(answer)).toContain('detail="address"')
  }
})

describe('a cache that goes by another header than Cache-Control', () => {
  const rules = { headers: [{ source: '/', headers: TARGETED.map((key) => ({ key, value: 'max-age=60' })) }] }
  const given = slotted(undefined, ({ context }) => {
    for (const name of TARGETED) context.headers.set(name, 'max-age=60')
  })
  test.for([
    ['of a loader', tinyApp({ routes: { '/': given.route } })],
    ['of a rule', tinyApp({ routes: { '/': slotted().route }, rules } as never)],
  ] as const)('%s gets no answer of one visitor', async ([, site]) => {
    const stranger = await visit(site)
    expect(stranger.headers['cdn-cache-control']).toBe('max-age=60')
    expect(stranger.headers['vary']).toBe('Accept-Encoding, Cookie, Authorization')
    for (const path of ['/', '/_m/data/']) {
      const { headers, text } = await visit(site, path, ANN)
      expect(text).toContain('ann')
      expect(TARGETED.filter((name) => name.toLowerCase() in headers)).toEqual([])
    }
  })
})

test.for([
  [
    'a rule',
    { rules: { headers: [{ source: '/', headers: [{ key: 'Cache-Control', value: 'public, s-maxage=60' }] }] } },
  ],
  [
    'middleware',
    {
      middleware: [
        (_: unknown, res: { setHeader(name: string, value: string): void }, next: () => void) => {
          res.setHeader('Cache-Control', 'public, s-maxage=60')
          next()
        },
      ],
    },
  ],
] as const)('%s that lets caches keep it tells them that visitors get another answer', async ([, parts]) => {
  const site = tinyApp({ routes: { '/': slotted().route }, ...parts } as never)
  for (let round = 0; round < 2; round += 1) {
    const { headers } = await visit(site)
    expect([headers['cache-control'], headers['vary']]).toEqual([
      'public, s-maxage=60',
      'Accept-Encoding, Cookie, Authorization',
    ])
  }
  expect((await visit(site, '/', ANN)).headers['cache-control']).toMatch(/^private/)
})

test.for([
  ['one URL', '/?near=1', {}],
  ['a visitor who is signed in', '/', ANN],
] as const)(
  '%s, for which visitor reads the address, leaves the page of all others as it is',
  async ([, url, headers]) => {
    const { route } = slotted(({ search, context }) => {
      const isNear = search['near'] !== undefined || context.cookie('visitor') !== undefined
      return { name: isNear && context.address !== '' ? 'near' : 'nobody' }
    })
    const site = tinyApp({ routes: { '/': route } })
    const { headers: before } = await visit(site)
    expect([before['cache-control'], before['etag']]).toEqual(['public, no-cache', expect.any(String)])
    for (let round = 0; round < 2; round += 1) {
      const own = await visit(site, url, headers)
      expect([slotOf(own), own.headers['cache-control']]).toEqual(['near', 'private, no-cache'])
      const { headers: after } = await visit(site)
      expect([after['cache-control'], after['etag']]).toEqual(['public, no-cache', before['etag']])
    }
  },
)

test('names of cookies that visitors choose are noted in a bounded number', () => {
  const reads = new VisitorReads()
  const told: number[] = []
  reads.onOfAll(() => told.push(1))
  reads.onOfAll(() => told.push(2))()
  for (let at = 0; at < 5_000; at += 1) reads.note(`cookie saved-${at}`)
  // Strangers without a cookie keep the page that all of them get.
  expect([told, reads.isOfAll, reads.concern({ cookie: 'other=1' }), reads.concern({})]).toEqual([
    [],
    false,
    true,
    false,
  ])
  reads.note('address')
  expect([told, reads.isOfAll, reads.concern({})]).toEqual([[1], true, true])
  expect(reads.onOfAll(() => told.push(3))).toBeTypeOf('function')
  expect(told).toEqual([1, 3])
})

test('a session is as it was after visitor has tried to rotate, set or clear it', async () => {
  const session = defineStoredSession({ schema: z.object({ user: z.string() }), user: ({ user }) => user })
  const failures: string[] = []
  const { route } = slotted(async ({ context }) => {
    const opened = await session.open(context)
    const tries = [() => opened.rotate(), () => opened.set({ user: 'eve' }), () => opened.clear()]
    if (opened.data !== undefined) {
      for (const attempt of tries) await (async () => attempt())().catch((error: Error) => failures.push(error.name))
    }
    return { name: opened.data?.user ?? 'nobody' }
  })
  const signIn = {
    handler: moduleOf({
      POST: async ({ context }: LoaderArgs) => {
        await (await session.open(context)).set({ user: 'ann' })
        return new Response('')
      },
    }),
  }
  const who = {
    handler: moduleOf({
      GET: async ({ context }: LoaderArgs) => {
        const opened = await session.open(context)
        return new Response(`${opened.data?.user} ${(await opened.devices()).length}`)
      },
    }),
  }
  const site = tinyApp({ routes: { '/': route, '/sign-in': signIn, '/who': who } as never })
  const signed = await request(site.app).post('/sign-in').set('Host', 'mills.example')
  const cookies = signed.headers['set-cookie'] as unknown as string[]
  const Cookie = cookies.map((line) => line.split(';')[0]).join('; ')
  await visit(site)
  await visit(site, '/', { Cookie })
  expect(failures).toEqual(['VisitorAnswerError', 'VisitorAnswerError', 'VisitorAnswerError'])
  expect((await visit(site, '/who', { Cookie })).text).toBe('ann 1')
})

test('a schema that refuses later is a failure of the slot', async () => {
  const state = { refuses: false }
  const validate = (value: unknown) => (state.refuses ? { issues: [{ message: 'too late' }] } : { value })
  const search = { '~standard': { version: 1, vendor: 'test', validate } }
  const site = tinyApp({
    routes: { '/': { cache: 'shared', page: bare, loader: moduleOf({ search, visitor: nameInCookie }) } } as never,
  })
  await visit(site)
  state.refuses = true
  expect((await visit(site, '/', ANN)).status).toBe(200)
  expect((await visit(site, '/_m/data/', ANN)).status).toBe(200)
})
