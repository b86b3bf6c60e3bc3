/** Clicks and prefetches of pages with `cache: 'shared'`: their data comes from the store of documents. */
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import { counted, countArrivals, drop, numberOf, statusOf, visit, withClock } from '../support/kept-pages.tsx'
import { fallbacks, moduleOf, page, tinyApp, type TinyApp } from '../support/tiny-app.tsx'

type Headers = Readonly<Record<string, string>>

const wrapper = page(({ children }: { children: ReactNode }) => children) as never

/** A click on a page, for all segments. */
const click = (site: TinyApp, path = '/', headers: Headers = {}) => visit(site, `/_m/data${path}`, headers)

const records = ({ text }: { text: string }): readonly Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('the data of a kept page', () => {
  test('is made with its document, for all, and is as old', async () => {
    const pass = withClock()
    const { state, route } = counted(undefined, { seconds: 5, staleSeconds: 60 })
    const site = tinyApp({ routes: { '/': route, '/drop': drop } })
    const first = await click(site).expect(200)
    expect([statusOf(first), numberOf(first)]).toEqual(['Millrace; fwd=miss; stored; ttl=5', 'made 1'])
    expect(numberOf(await visit(site))).toBe('made 1')
    pass(2_000)
    const again = await click(site, '/', { Cookie: 'a=1', Purpose: 'prefetch' })
    expect(again.text).toBe(first.text)
    expect(again.headers).toMatchObject({
      age: '2',
      'server-timing': 'cache;desc="hit"',
      'cache-status': 'Millrace; hit; ttl=3',
      'cache-control': 'public, no-cache',
      'content-length': String(Buffer.byteLength(first.text)),
      'content-type': 'application/vnd.millrace.route-data',
      vary: 'Accept-Encoding, X-Millrace-Build',
    })
    expect(records(again).map((record) => Object.keys(record)[0])).toEqual(['v', 'segment', 'done'])
    expect((await click(site, '/', { 'If-None-Match': again.headers['etag'] ?? '' })).status).toBe(304)
    pass(4_000)
    const stale = await click(site)
    expect([statusOf(stale), numberOf(stale)]).toEqual(['Millrace; fwd=stale; ttl=-1', 'made 1'])
    await expect.poll(async () => numberOf(await click(site))).toBe('made 2')
    for (const target of ['mills', '/']) {
      const before = state.made
      await request(site.app).post(`/drop?what=${target}`).set('Host', 'mills.example').expect(200)
      expect(numberOf(await click(site))).toBe(`made ${before + 1}`)
      expect(numberOf(await visit(site))).toBe(`made ${before + 1}`)
    }
  })

  test('is compressed once, and sent without a body to HEAD', async () => {
    const tags = Array.from({ length: 50 }, (_, at) => `${at} ${'x'.repeat(90)}`)
    const site = tinyApp({ routes: { '/': counted((args) => void args.cache({ tags })).route } })
    const plain = await click(site)
    for (const coding of ['br', 'gzip']) {
      const answer = await click(site, '/', { 'Accept-Encoding': coding })
        .buffer(true)
        .parse(binary as never)
      expect([answer.headers['content-encoding'], answer.headers['etag']]).toEqual([coding, plain.headers['etag']])
    }
    const head = await request(site.app).head('/_m/data/').set({ Host: 'mills.example', 'Accept-Encoding': 'identity' })
    expect(head.headers).toMatchObject({
      'content-length': plain.headers['content-length'],
      'cache-status': expect.stringContaining('hit'),
    })
  })

  test('is loaded once, however many click and visit at the same time', async () => {
    const gate = Promise.withResolvers<void>()
    const { state, route } = counted(() => gate.promise)
    const arrived = countArrivals()
    const site = tinyApp({ routes: { '/': route }, middleware: arrived.middleware })
    const all = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? click(site) : visit(site)).then((got) => got))
    await expect.poll(() => arrived.count, { timeout: 10_000 }).toBe(40)
    gate.resolve()
    expect((await Promise.all(all)).map(numberOf)).toEqual(all.map(() => 'made 1'))
    expect(state.made).toBe(1)
  })

  test('has the segments that are asked for, with values that JSON has not, and with deferred ones', async () => {
    const outer = { layout: wrapper, layoutLoader: moduleOf({ loader: () => ({ at: new Date(0) }) }) }
    const Page = ({ data }: { data: { late: Promise<string> } }) => (
      <Suspense fallback="…">
        <Late text={data.late} />
      </Suspense>
    )
    const Late = ({ text }: { text: Promise<string> }) => use(text)
    const loader = () => ({ late: Promise.resolve('late value'), big: new Map([['a', 'x'.repeat(70_000)]]) })
    const site = tinyApp({
      routes: { '/': outer, '/a': { cache: 'shared', page: page(Page), loader: moduleOf({ loader }) } },
    })
    const own = '/_m/data/a?_m='
    const idsOf = (answer: { text: string }) => records(answer).flatMap(({ segment }) => segment ?? [])
    const paths = [
      click(site, '/a'),
      visit(site, `${own}%2Fa%23page`),
      visit(site, `${own}%2F%23layout`),
      visit(site, own),
    ]
    const [all, inner, around, none] = await Promise.all(paths)
    expect([all, inner, around, none].map((answer) => idsOf(answer as never))).toEqual([
      ['/#layout', '/a#page'],
      ['/a#page'],
      ['/#layout'],
      [],
    ])
    expect(inner?.text).toContain('late value')
    const numbers = records(all as never).map(({ stream, chunk, end }) => stream ?? chunk ?? end)
    expect(new Set(numbers)).toEqual(new Set([undefined, 0, 1]))
    expect(statusOf(all as never)).not.toContain('bypass')
  })

  test('is a refusal or a redirect for all who wait for one, and not kept', async () => {
    const gate = Promise.withResolvers<void>()
    let made = 0
    const routeOf = (stop: () => never) => ({
      cache: 'shared' as const,
      page: page(() => <p />),
      loader: moduleOf({
        loader: async () => {
          made += 1
          await gate.promise
          stop()
        },
      }),
    })
    const boom = (): never => {
      throw new Error('the database is away')
    }
    const arrived = countArrivals()
    const site = tinyApp({
      middleware: arrived.middleware,
      routes: {
        '/': fallbacks('all'),
        '/none': routeOf(() => notFound()),
        '/moved': routeOf(() => redirect('/elsewhere')),
        '/boom': routeOf(boom),
      },
    })
    const paths = ['/none', '/none', '/moved', '/moved', '/boom', '/boom', '/boom']
    const all = paths.map((path) => click(site, path).then((answer) => answer))
    await expect.poll(() => arrived.count).toBe(paths.length)
    gate.resolve()
    const answers = await Promise.all(all)
    expect(made).toBe(3)
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 200, 200, 500, 500, 500])
    const cachings = answers.map(({ headers }) => headers['cache-control'])
    expect(cachings).toEqual(paths.map((path) => (path === '/moved' ? 'private, no-store' : 'no-store')))
    expect(records(answers[0] as never)).toContainEqual({ outcome: { kind: 'notFound', at: 0 } })
    expect(records(answers[2] as never)[0]).toMatchObject({ redirect: { to: '/elsewhere' } })
    expect(records(answers[4] as never)).toContainEqual({
      outcome: { kind: 'error', at: 0, digest: expect.any(String) },
    })
    expect(site.logs.filter(({ err }) => err !== undefined)).toHaveLength(1)
    await click(site, '/none')
    expect(made).toBe(4)
  })

  test('is loaded for each visitor where a loader around it reads the visitor', async () => {
    const reads = ({ context }: LoaderArgs) => ({ name: context.cookie('name') })
    const { route } = counted()
    const routes = { '/': { layout: wrapper, layoutLoader: moduleOf({ loader: reads }) }, '/a': route }
    const site = tinyApp({ routes })
    for (const name of ['ann', 'bob']) {
      const answer = await click(site, '/a', { Cookie: `name=${name}` })
      expect(statusOf(answer)).toBe('Millrace; fwd=bypass; detail="cookie name"')
      expect(answer.text).toContain(`"name":"${name}"`)
      expect(answer.headers['cache-control']).toBe('private, no-store')
      expect(answer.headers['server-timing']).toMatch(/^cache;desc="bypass: cookie name", loader;/)
    }
    expect((await click(site, '/a')).text).not.toMatch(/ann|bob/)
    await visit(site, '/a')
    expect(site.logs.flatMap(({ reason, route }) => (reason === undefined ? [] : [route]))).toEqual(['/a'])
  })

  test('is not kept from or for a request with Authorization', async () => {
    const { state, route } = counted()
    const site = tinyApp({ routes: { '/': route } })
    await click(site)
    const own = await click(site, '/', { Authorization: 'Bearer a' })
    expect([statusOf(own), state.made]).toEqual(['Millrace; fwd=bypass; detail="authorization"', 2])
  })
})

function binary(answer: NodeJS.ReadableStream, done: (error: null, body: Buffer) => void): void {
  const chunks: Buffer[] = []
  answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
  answer.on('end', () => done(null, Buffer.concat(chunks)))
}
