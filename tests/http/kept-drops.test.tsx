/** Kept pages that are dropped again and again while they are made. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { notFound } from '../../src/shared/control-flow.ts'
import { counted, countArrivals, drop, numberOf, statusOf, visit } from '../support/kept-pages.tsx'
import { nameInCookie, slotOf, slotted } from '../support/kept-shells.tsx'
import { fallbacks, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const VISITORS = 6
const MAKINGS = 4

type Route = TinyAppOptions['routes'][string]
type Asked = readonly [path: string, headers?: Readonly<Record<string, string>>]

/** All ask for a page at once, and each of its makings is dropped before it ends. */
async function dropEachMaking(
  routeOf: (wait: (args: LoaderArgs) => Promise<void>) => { readonly route: Route },
  ask: (at: number) => Asked,
) {
  const begun: PromiseWithResolvers<void>[] = []
  const { route } = routeOf(() => {
    const gate = Promise.withResolvers<void>()
    begun.push(gate)
    return gate.promise
  })
  const arrived = countArrivals()
  const routes = { '/': { ...route, ...fallbacks('root') }, '/drop': drop }
  const site = tinyApp({ routes, middleware: arrived.middleware })
  const answers = Promise.all(Array.from({ length: VISITORS }, (_, at) => visit(site, ...ask(at)).then((it) => it)))
  await expect.poll(() => arrived.count).toBe(VISITORS)
  for (let at = 0; at < MAKINGS; at += 1) {
    await expect.poll(() => begun.length).toBe(at + 1)
    await request(site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
    begun[at]?.resolve()
  }
  // Those that nobody should begin end, too.
  const rest = setInterval(() => begun.forEach(({ resolve }) => resolve()), 20)
  const all = await answers.finally(() => clearInterval(rest))
  return { all, made: begun.length, site }
}

describe('a page that is dropped during each of its makings', () => {
  test.for([
    ['documents', () => ['/'] as const],
    ['documents, by queries that it does not read', (at: number) => [`/?utm=${at}`] as const],
    ['clicks', () => ['/_m/data/'] as const],
  ] as const)('is made four times for all who wait: %s', async ([, ask]) => {
    const { all, made, site } = await dropEachMaking((wait) => counted(wait, { seconds: 60 }), ask)
    expect(all.map((answer) => [numberOf(answer), statusOf(answer)])).toEqual(
      Array.from({ length: VISITORS }, () => ['made 4', expect.stringMatching(/^Millrace; fwd=miss;(?! stored)/)]),
    )
    expect([made, site.app.caches.documents.entries]).toEqual([MAKINGS, 0])
  })

  test('has the slots of each visitor', async () => {
    const as = (at: number): Asked => ['/', { Cookie: `visitor=v${at}` }]
    const { all, made } = await dropEachMaking((wait) => slotted(nameInCookie, wait), as)
    expect(all.map((answer) => [numberOf(answer), slotOf(answer)])).toEqual(
      Array.from({ length: VISITORS }, (_, at) => ['made 4', `v${at}`]),
    )
    expect(made).toBe(MAKINGS)
  })

  test('may have come to a refusal', async () => {
    const { all, made } = await dropEachMaking(
      (wait) =>
        counted(
          async (args) => {
            await wait(args)
            notFound()
          },
          { seconds: 60 },
        ),
      () => ['/'],
    )
    expect(all.map((answer) => [answer.status, statusOf(answer)])).toEqual(
      Array.from({ length: VISITORS }, () => [404, expect.stringContaining('fwd=miss')]),
    )
    expect(made).toBe(MAKINGS)
  })
})
