import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use } from 'react'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { counted, countArrivals, numberOf, statusOf, visit } from '../support/kept-pages.tsx'
import { moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

function Late({ late }: { late: Promise<string> }) {
  return <p>{use(late)}</p>
}

describe('served to each visitor for itself, and said so, is', () => {
  const session = defineSession({ name: 'session', schema: z.object({ user: z.string() }) })
  const cases: readonly (readonly [string, string, (args: LoaderArgs) => unknown, TinyAppOptions['middleware']?])[] = [
    ['a cookie', 'cookie user', ({ context }) => context.cookie('user')],
    ['a session', 'session', ({ context }) => session.open(context)],
    ['the request', 'request', ({ request: asked }) => asked.headers.get('cookie')],
    ['the address', 'address', ({ context }) => context.address],
    ['what middleware knows', 'locals', ({ context }) => context.locals],
    ['the origin', 'origin', ({ context }) => context.origin],
    ['secrets', 'secrets', ({ context }) => context.secrets],
    ['a limit', 'limit', ({ context }) => context.limit('x', { points: 100, seconds: 1 })],
    ['the id of the request', 'request id', ({ context }) => context.requestId],
    ['whether it is prefetched', 'prefetch', ({ context }) => context.prefetch],
    ['work after the answer', 'after', ({ context }) => context.after(() => undefined)],
    ['a cookie of the answer', 'set-cookie', ({ context }) => context.headers.append('Set-Cookie', 'a=1')],
    ['a Vary', 'vary', ({ context }) => context.headers.set('Vary', 'Accept-Language')],
    ['a private Cache-Control', 'cache-control', ({ context }) => context.headers.set('Cache-Control', 'private')],
    ['a cookie after an await', 'cookie user', async ({ context }) => (await delay(1), context.cookie('user'))],
  ]
  test.for(cases)('a page that has to do with %s', async ([, reason, beside]) => {
    const { state, route } = counted(async (args) => {
      await beside(args)
      await delay(5)
      return args.context.headers.get('x') ?? 'one'
    })
    const site = tinyApp({ routes: { '/': route } })
    const answers = []
    for (const user of ['ann', 'bob', 'cleo']) answers.push(await visit(site, '/', { Cookie: `user=${user}` }))
    const detail = `Millrace; fwd=bypass; detail="${reason}"`
    expect(answers.map(statusOf)).toEqual([detail, detail, detail])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ headers }) => headers['cache-control'])).not.toContain('public, no-cache')
    expect(new Set(answers.map(numberOf)).size).toBe(3)
    // The first making, and one for each visitor.
    expect(state.made).toBe(4)
    const told = site.logs.filter(({ reason: named }) => named !== undefined)
    expect(told.map(({ reason: named, route: of }) => [named, of])).toEqual([[reason, '/']])
    expect(site.logs.filter(({ msg }) => msg === 'uncaught failure')).toEqual([])
    expect(site.logs.flatMap(({ cache }) => cache ?? [])).toEqual(Array.from({ length: 3 }, () => `bypass: ${reason}`))
  })

  test('a page that reads a cookie for a deferred value', async () => {
    const deferred = page(({ data }: { data: { late: Promise<string> } }) => (
      <Suspense>
        <Late late={data.late} />
      </Suspense>
    ))
    const late = async ({ context }: LoaderArgs) => (await delay(5), `user ${context.cookie('user')}`)
    const loader = moduleOf({ loader: (args: LoaderArgs) => ({ late: late(args) }) })
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: deferred, loader } } })
    for (const user of ['ann', 'bob']) {
      const answer = await visit(site, '/', { Cookie: `user=${user}` })
      expect(statusOf(answer)).toBe('Millrace; fwd=bypass; detail="cookie user"')
      expect(answer.text).toContain(`user ${user}`)
    }
  })

  test('a page that proves private while a hundred wait', async () => {
    const gate = Promise.withResolvers<void>()
    const { route } = counted(async ({ context }) => {
      await gate.promise
      return context.cookie('user')
    })
    const arrived = countArrivals()
    const site = tinyApp({ routes: { '/': route }, middleware: arrived.middleware })
    const waiting = Array.from({ length: 100 }, (_, index) =>
      visit(site, '/', { Cookie: `user=u${index}` }).then(numberOf),
    )
    await expect.poll(() => arrived.count, { timeout: 10_000 }).toBe(100)
    gate.resolve()
    const answers = await Promise.all(waiting)
    answers.forEach((answer, index) => expect(answer).toMatch(new RegExp(`for u${index}$`)))
  })

  test('who brings a password', async () => {
    const { state, route } = counted()
    const site = tinyApp({ routes: { '/': route } })
    await visit(site)
    const answer = await visit(site, '/', { Authorization: 'Basic YTpi' })
    expect(statusOf(answer)).toBe('Millrace; fwd=bypass; detail="authorization"')
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    expect([numberOf(answer), state.made]).toEqual(['made 2', 2])
  })
})

describe('nothing of one visitor reaches another:', () => {
  test('headers of middleware are those of the visitor who asks, and a cookie of it makes the answer private', async () => {
    const site = tinyApp({
      routes: { '/': counted().route },
      middleware: [
        (req, res, next) => {
          res.setHeader('X-Greeting', `hello ${req.headers['x-user']}`)
          if (req.headers.cookie === undefined) res.cookie('visitor', 'one')
          next()
        },
      ],
    })
    const first = await visit(site, '/', { 'X-User': 'ann' })
    expect(first.headers).toMatchObject({ 'x-greeting': 'hello ann', 'cache-control': 'private, no-store' })
    const second = await visit(site, '/', { 'X-User': 'bob', Cookie: 'visitor=1' })
    expect(second.headers).toMatchObject({ 'x-greeting': 'hello bob', 'cache-control': 'public, no-cache' })
    expect(second.headers['set-cookie']).toBeUndefined()
    expect(statusOf(second)).toContain('hit')
  })

  test('a making knows nothing of the async context of the one who asked first', async () => {
    const storage = new AsyncLocalStorage<string>()
    const seen = page(() => <p>user {storage.getStore() ?? 'nobody'}</p>)
    const site = tinyApp({
      routes: { '/': { cache: 'shared', page: seen } },
      middleware: [(_req, _res, next) => storage.run('ann', next)],
    })
    expect((await visit(site)).text).toContain('nobody')
    expect((await visit(site)).text).toContain('nobody')
  })

  test('each host has its own, and spelling does not make more', async () => {
    const { state, route } = counted()
    const site = tinyApp({ routes: { '/': route } })
    for (const Host of ['a.example', 'b.example', 'A.example']) await visit(site, '/', { Host })
    expect(state.made).toBe(2)
  })
})
