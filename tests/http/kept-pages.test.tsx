import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use, useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { NO_ASSETS } from '../../src/server/assets/manifest.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import { counted, countArrivals, drop, numberOf, statusOf, visit, withClock } from '../support/kept-pages.tsx'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

describe('a page that is the same for all', () => {
  test('is made once and then sent as it is, with its age', async () => {
    const { state, route } = counted()
    const site = tinyApp({ routes: { '/': route } })
    const made = await visit(site).expect(200)
    expect(statusOf(made)).toMatch(/^Millrace; fwd=miss; stored; ttl=(?:59|60)$/)
    const again = await visit(site, '/', { Cookie: 'a=1', 'X-Forwarded-Host': 'evil.example', 'Accept-Language': 'de' })
    expect(again.text).toBe(made.text)
    expect(again.headers).toMatchObject({
      age: '0',
      'cache-status': expect.stringMatching(/^Millrace; hit; ttl=(?:59|60)$/),
      'cache-control': 'public, no-cache',
      etag: made.headers['etag'],
      vary: 'Accept-Encoding',
      'content-length': String(Buffer.byteLength(made.text)),
    })
    expect(again.headers['content-security-policy']).not.toContain('nonce')
    expect(again.text).not.toContain('nonce')
    expect(again.headers['set-cookie']).toBeUndefined()
    expect(state.made).toBe(1)
    expect(site.logs.flatMap(({ cache }) => cache ?? [])).toEqual(['miss', 'hit'])
  })

  test('is sent in the coding that is asked for, without a body, or not at all if the visitor has it', async () => {
    const site = tinyApp({ routes: { '/': counted().route } })
    const head = await request(site.app).head('/').set({ Host: 'mills.example', 'Accept-Encoding': 'identity' })
    expect([head.status, statusOf(head)]).toEqual([200, expect.stringContaining('fwd=miss')])
    const plain = await visit(site)
    expect(statusOf(plain)).toContain('hit')
    expect(plain.headers['content-length']).toBe(head.headers['content-length'])
    for (const coding of ['br', 'gzip']) {
      const [one, other] = await Promise.all(
        [coding, coding].map((name) => visit(site, '/', { 'Accept-Encoding': name })),
      )
      expect([one?.headers['content-encoding'], one?.text, other?.text]).toEqual([coding, plain.text, plain.text])
    }
    const same = await visit(site, '/', { 'If-None-Match': plain.headers['etag'] ?? '' }).expect(304)
    expect(same.headers).toMatchObject({ 'cache-status': expect.stringContaining('hit'), etag: plain.headers['etag'] })
    expect(same.headers['content-security-policy']).toBeUndefined()
  })

  test('is made for a conditional request too, if it is not there', async () => {
    const { state, route } = counted()
    const site = tinyApp({ routes: { '/': route } })
    await visit(site, '/', { 'If-None-Match': 'W/"nothing"' }).expect(200)
    expect(statusOf(await visit(site))).toContain('hit')
    expect(state.made).toBe(1)
  })

  test('is made once for all who ask at the same time, also if the first of them leaves', async () => {
    const gate = Promise.withResolvers<void>()
    const { state, route } = counted(() => gate.promise)
    const arrived = countArrivals()
    const site = tinyApp({ routes: { '/': route }, middleware: arrived.middleware })
    const first = visit(site)
    first.end(() => undefined)
    await expect.poll(() => state.made).toBe(1)
    first.abort()
    const others = Array.from({ length: 50 }, () => visit(site).then((answer) => answer))
    await expect.poll(() => arrived.count, { timeout: 10_000 }).toBe(51)
    gate.resolve()
    const answers = await Promise.all(others)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers.map(numberOf)).toEqual(answers.map(() => 'made 1'))
    expect(statusOf(answers[0] as never)).toContain('collapsed')
    expect(state.made).toBe(1)
  })

  test('is sent stale while one new one is made, and not longer than it may', async () => {
    const pass = withClock()
    const gate = Promise.withResolvers<void>()
    const { state, route } = counted(() => (state.made === 2 ? gate.promise : undefined), {
      seconds: 5,
      staleSeconds: 60,
    })
    const site = tinyApp({ routes: { '/': route } })
    await visit(site)
    pass(6_000)
    const stale = await Promise.all([visit(site), visit(site), visit(site)])
    expect(stale.map(numberOf)).toEqual(['made 1', 'made 1', 'made 1'])
    expect(stale[0]?.headers).toMatchObject({ age: '6', 'cache-status': 'Millrace; fwd=stale; ttl=-1' })
    gate.resolve()
    await expect.poll(async () => numberOf(await visit(site))).toBe('made 2')
    expect(state.made).toBe(2)
    pass(66_000)
    expect(numberOf(await visit(site))).toBe('made 3')
  })

  test('is made again for a visitor where that was refused for a prefetch, because half of the places are taken', async () => {
    const pass = withClock()
    const { route } = counted(undefined, { seconds: 5, staleSeconds: 3_600 })
    const gate = Promise.withResolvers<void>()
    let begun = 0
    const loader = async () => ((begun += 1), await gate.promise, {})
    const slow = { page: page(() => <p>slow</p>), loader: moduleOf({ loader }) }
    const site = tinyApp({ routes: { '/': route, '/slow': slow }, environment: { MAX_PENDING_RENDERS: '4' } })
    await visit(site)
    pass(6_000)
    const held = [1, 2].map(async () => visit(site, '/slow'))
    await expect.poll(() => begun).toBe(2)
    for (let ask = 0; ask < 3; ask += 1)
      expect(numberOf(await visit(site, '/', { Purpose: 'prefetch' }))).toBe('made 1')
    await visit(site)
    await expect.poll(async () => numberOf(await visit(site))).toBe('made 2')
    gate.resolve()
    await Promise.all(held)
  })

  test('is made again soon if it is made of a stale value', async () => {
    const pass = withClock()
    let level = 0
    const times = { seconds: 60, staleSeconds: 60 }
    const { route } = counted(
      ({ context }) => context.cached('level', { seconds: 5, staleSeconds: 600 }, () => `level${(level += 1)}`),
      times,
    )
    const site = tinyApp({ routes: { '/': route } })
    await visit(site)
    pass(61_000)
    await expect.poll(async () => numberOf(await visit(site))).toBe('made 2 for level1')
    pass(1_001)
    await expect.poll(async () => numberOf(await visit(site))).toBe('made 3 for level2')
    pass(58_000)
    expect(numberOf(await visit(site))).toBe('made 3 for level2')
  })

  test('goes on as a stale one while it fails to be made, with one report', async () => {
    const pass = withClock()
    let fails = false
    const { state, route } = counted(
      () => {
        if (fails) throw new Error('the database is away')
      },
      { seconds: 5, staleSeconds: 60 },
    )
    const site = tinyApp({ routes: { '/': route } })
    await visit(site)
    fails = true
    pass(6_000)
    for (let asked = 0; asked < 3; asked += 1) expect(numberOf(await visit(site))).toBe('made 1')
    await expect.poll(() => state.made).toBe(2)
    await visit(site)
    expect(site.logs.filter(({ msg }) => msg === 'uncaught failure')).toHaveLength(1)
    fails = false
    pass(5_001)
    await visit(site)
    await expect.poll(async () => numberOf(await visit(site))).toBe('made 3')
  })

  test.for([
    ['its path', '/'],
    ['a tag', 'mills'],
    ['all below', '/*'],
  ])('is made again when %s is dropped', async ([, what = '']) => {
    const site = tinyApp({ routes: { '/': counted(undefined, { seconds: 60 }).route, '/drop': drop } })
    await visit(site)
    await request(site.app)
      .post(`/drop?what=${encodeURIComponent(what)}`)
      .set('Host', 'mills.example')
      .expect(200)
    expect([numberOf(await visit(site)), statusOf(await visit(site))]).toEqual([
      'made 2',
      expect.stringContaining('hit'),
    ])
  })

  test('is not kept if it was dropped while it was made, and those who asked later get a new one', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { state, route } = counted(() => gates[state.made - 1]?.promise, { seconds: 60 })
    const site = tinyApp({ routes: { '/': route, '/drop': drop } })
    const before = visit(site).then(numberOf)
    await expect.poll(() => state.made).toBe(1)
    await request(site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
    const after = visit(site).then(numberOf)
    gates.forEach(({ resolve }) => resolve())
    await before
    // Who comes while those before look again may begin one of their own.
    expect(['made 2', 'made 3']).toContain(await after)
    expect(['made 2', 'made 3']).toContain(numberOf(await visit(site)))
  })

  test('holds what is deferred, and values that JSON cannot say, in one piece without scripts', async () => {
    const late = page(({ data }: { data: { at: Date; late: Promise<string> } }) => (
      <main>
        <time>{data.at.toISOString()}</time>
        <Suspense fallback="wait">
          <Late late={data.late} />
        </Suspense>
      </main>
    ))
    const loader = () => ({ at: new Date(0), late: delay(20, 'late '.repeat(5_000)) })
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: late, loader: moduleOf({ loader }) } } })
    await visit(site).expect(200)
    const { text, headers } = await visit(site).expect(200)
    expect(statusOf({ headers })).toContain('hit')
    expect(text).toContain('<!--$--><p>late late')
    expect(text).not.toMatch(/<script(?! type="application\/json")|<template|wait/)
    expect(text).toContain('"chunks":[')
  })

  test('may have a form with a state', async () => {
    const action = Object.assign(async () => 1, {})
    const form = page(() => {
      const [state] = useActionState(action, 0)
      return <p>state {state}</p>
    })
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: form } } })
    await visit(site).expect(200)
    expect(statusOf(await visit(site))).toContain('hit')
  })
})

function Late({ late }: { late: Promise<string> }) {
  return <p>{use(late)}</p>
}

describe('a search param', () => {
  test('that nothing reads makes no other page', async () => {
    const { state, route } = counted()
    const site = tinyApp({ routes: { '/': route } })
    for (let index = 0; index < 100; index += 1) await visit(site, `/?utm=${index}`)
    expect([state.made, site.app.caches.documents.entries]).toEqual([1, 1])
    expect((await visit(site, '/?utm=secret')).text).not.toContain('secret')
  })

  test('that the loader reads makes another page, and 32 at most', async () => {
    const { state, route } = counted(({ search }) => String(search['q']))
    const site = tinyApp({ routes: { '/': route } })
    for (let index = 0; index < 100; index += 1) {
      expect(numberOf(await visit(site, `/?q=${index}&other=${index}`))).toBe(`made ${index + 1} for ${index}`)
    }
    expect([state.made, site.app.caches.documents.entries]).toEqual([100, 32])
    expect(numberOf(await visit(site, '/?other=1&q=99'))).toBe('made 100 for 99')
  })

  test('of others who wait for the first making is not taken for theirs', async () => {
    const { route } = counted(async ({ search }) => {
      await delay(5)
      return String(search['q'])
    })
    const site = tinyApp({ routes: { '/': route } })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => visit(site, `/?q=${index % 4}`)))
    answers.forEach((answer, index) => expect(numberOf(answer)).toMatch(new RegExp(`for ${index % 4}$`)))
  })
})

describe('what is not a page with status 200', () => {
  test.for([
    ['not found', 404, () => notFound()],
    ['a redirect', 307, () => redirect('/elsewhere')],
    ['a failure', 500, () => Promise.reject(new Error('broken'))],
  ] as const)('is not kept, and made once for those who wait: %s', async ([, status, beside]) => {
    const { state, route } = counted(async () => {
      await delay(20)
      return beside()
    })
    const site = tinyApp({ routes: { '/': { ...route, ...fallbacks('root') } } })
    const answers = await Promise.all(Array.from({ length: 10 }, () => visit(site)))
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status))
    expect(statusOf(answers[0] as never)).toMatch(/^Millrace; fwd=miss(?:; collapsed)?$/)
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store')
    expect(state.made).toBe(1)
    await visit(site).expect(status)
    expect(state.made).toBe(2)
    expect(site.app.caches.documents.entries).toBe(0)
  })

  test.for(['/', '/_m/data/'])('is sent in the coding that is asked for, and without a nonce: %s', async (path) => {
    const around = moduleOf({ loader: () => ({ long: 'x'.repeat(3_000) }) })
    const layout = page(({ children }: { children: unknown }) => children)
    const { route } = counted(() => notFound())
    const site = tinyApp({
      routes: { '/': { ...route, ...fallbacks('root'), layout: layout as never, layoutLoader: around } },
      assets: {
        manifest: { ...NO_ASSETS, entry: '/_m/assets/entry.js', valueDecoder: ['/_m/assets/values.js'] },
        folder: '/nowhere',
      },
    })
    const plain = await visit(site, path).expect(404)
    expect(plain.text).toContain('xxx')
    expect(plain.text + JSON.stringify(plain.headers)).not.toContain('nonce')
    for (const coding of ['br', 'gzip']) {
      const coded = await visit(site, path, { 'Accept-Encoding': coding }).expect(404)
      expect([coded.headers['content-encoding'], coded.text]).toEqual([coding, plain.text])
      expect(Number(coded.headers['content-length'])).toBeLessThan(plain.text.length / 2)
    }
  })
})

test('times that are not valid are refused by name', async () => {
  for (const [shared, message] of [
    [{ seconds: 0 }, 'cache({ shared: { seconds: 0 } })'],
    [{ seconds: Number.NaN }, 'seconds: NaN'],
    [{ seconds: 1, staleSeconds: -1 }, 'staleSeconds: -1'],
  ] as const) {
    const site = tinyApp({ routes: { '/': counted(undefined, shared).route } })
    await visit(site).expect(500)
    expect(JSON.stringify(site.logs)).toContain(message)
  }
})

test('the shortest times of all loaders count', async () => {
  const pass = withClock()
  const layout = page(({ children }: { children: unknown }) => children)
  const layoutLoader = moduleOf({
    loader: ({ cache }: LoaderArgs) => {
      cache({ shared: { seconds: 5 } })
      return {}
    },
  })
  const { route } = counted(undefined, { seconds: 50, staleSeconds: 50 })
  const site = tinyApp({ routes: { '/': { ...route, layout: layout as never, layoutLoader } } })
  await visit(site)
  pass(6_000)
  expect(numberOf(await visit(site))).toBe('made 2')
})
