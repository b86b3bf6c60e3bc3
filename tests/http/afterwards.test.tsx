import { AsyncLocalStorage } from 'node:async_hooks'
import request from 'supertest'
import { expect, test } from 'vitest'
import type { HandlerArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { getData } from '../support/route-data.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const plain = page(() => <p>plain</p>)

test.for(['/', '/_m/data/', '/handler'])(
  'work of %s begins when the answer is over, which does not wait',
  async (url) => {
    const told: string[] = []
    const end = Promise.withResolvers<void>()
    const leave = ({ context }: LoaderArgs): void => {
      context.after(async () => {
        told.push('begun')
        await end.promise
        told.push('done')
      })
      told.push('loaded')
    }
    const GET = (args: LoaderArgs): Response => (leave(args), new Response('ok'))
    const { app } = tinyApp({
      routes: {
        '/': { page: plain, loader: moduleOf({ loader: leave }) },
        '/handler': { handler: moduleOf({ GET }) as never },
      },
    })
    await getData(app, url)
    await expect.poll(() => told).toEqual(['loaded', 'begun'])
    end.resolve()
    await expect.poll(() => told.at(-1)).toBe('done')
  },
)

test('work that fails is logged with the digest and the id of its request', async () => {
  const loader = ({ context }: LoaderArgs): void => context.after(() => Promise.reject(new Error('no mail today')))
  const { app, logs } = tinyApp({ routes: { '/': { page: plain, loader: moduleOf({ loader }) } } })
  await request(app).get('/').expect(200)
  await expect
    .poll(() => logs.find(({ msg }) => msg === 'uncaught failure'))
    .toMatchObject({
      err: { message: 'no mail today' },
      digest: expect.stringMatching(/^[\da-f]{12}$/) as string,
      place: 'after',
      requestId: expect.any(String) as string,
    })
})

test('nobody leaves work behind in a value that is made for all', async () => {
  const loader = ({ context }: LoaderArgs) =>
    context.cached('k', { seconds: 60 }, () => context.after(() => undefined)).then(() => ({}))
  const { app, logs } = tinyApp({ routes: { '/': { page: plain, loader: moduleOf({ loader }) } } })
  await request(app).get('/').expect(500)
  expect(JSON.stringify(logs)).toContain('context.after() was used inside of cached')
})

test('runs in the scope of its own request, also if it had to wait for the work of others', async () => {
  const scope = new AsyncLocalStorage<string>()
  const held = Promise.withResolvers<void>()
  const ran: (readonly [asked: string | null, scope: string | undefined])[] = []
  const GET = ({ request: asked, context }: HandlerArgs) => {
    context.after(async () => {
      ran.push([asked.headers.get('x-me'), scope.getStore()])
      await held.promise
    })
    return new Response('Taken')
  }
  const { app } = tinyApp({
    routes: { '/later': { handler: moduleOf({ GET }) } },
    middleware: [(req, _res, next) => scope.run(String(req.headers['x-me']), next)],
  })
  const names = Array.from({ length: 300 }, (_, at) => `request ${at}`)
  for (const name of names) await request(app).get('/later').set('X-Me', name).expect(200)
  await expect.poll(() => ran.length).toBe(250) // half of the room is one client's
  held.resolve()
  await expect.poll(() => ran.length).toBe(300)
  expect(ran.filter(([asked, own]) => asked !== own)).toEqual([])
})
