/** Turns of the event loop for pages of which everybody waits for the making. */
import { expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { countArrivals, visit } from '../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const FLOOD = 50 // a batch has 16 pages

function holdEventLoop(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

function Costly({ data }: { data: { name: string } }) {
  holdEventLoop(20)
  return <p>{data.name}</p>
}

test.for([
  ['kept pages', 'kept'],
  ['pages', 'plain'],
])('a page for which others wait does not wait for all %s of the client that asked for it first', async ([, kind]) => {
  const gate = Promise.withResolvers<void>()
  let begun = 0
  const loader = async ({ params }: LoaderArgs) => {
    begun += 1
    await gate.promise
    return { name: String((params as { name: string }).name) }
  }
  const route = { page: page(Costly), loader: moduleOf({ loader }) }
  const arrived = countArrivals()
  const site = tinyApp({
    middleware: arrived.middleware,
    routes: { '/kept/[name]': { ...route, cache: 'shared' }, '/plain/[name]': route },
    environment: { TRUST_PROXY: '127.0.0.1,::1' },
  })
  const order: string[] = []
  const ask = (path: string, client: string) =>
    visit(site, path, { 'X-Forwarded-For': client })
      .expect(200)
      .then(() => void order.push(`${path} for ${client}`))
  const flood = Array.from({ length: FLOOD }, async (_, n) => ask(`/${kind}/${n}`, '192.0.2.1'))
  await expect.poll(() => begun).toBe(FLOOD)
  const first = ask('/kept/wanted', '192.0.2.1')
  await expect.poll(() => begun).toBe(FLOOD + 1)
  const other = ask('/kept/wanted', '192.0.2.2')
  await expect.poll(() => arrived.count).toBe(FLOOD + 2)
  gate.resolve()
  await Promise.all([...flood, first, other])
  expect(order.indexOf('/kept/wanted for 192.0.2.2')).toBeLessThan(FLOOD / 2)
})
