import { array, assert, asyncProperty, constantFrom, nat, record } from 'fast-check'
import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { expect, test } from 'vitest'
import type { LoaderArgs, VisitorArgs } from '../../../src/server/api/loader-types.ts'
import { drop, visit } from '../../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

const RUNS = 200

/** A step of a visitor. */
const step = record({
  what: constantFrom('visit', 'visit', 'click', 'click', 'drop', 'password'),
  path: constantFrom('/all', '/own', '/late', '/query', '/fails', '/under/all', '/slot', '/slot-late', '/slots/all'),
  visitor: nat(5),
  query: nat(2),
})

const around = page(({ children }: { children: ReactNode }) => children) as never
const readsVisitor = ({ context }: LoaderArgs) => ({ user: context.cookie('user') })
const visitor = ({ context }: VisitorArgs) => `${context.cookie('user')}`
const visitorLate = async ({ context }: VisitorArgs) => {
  await delay(1)
  return visitor({ context } as VisitorArgs)
}

function Slot({ value }: { readonly value: Promise<string> }) {
  return <b>{use(value)}</b>
}

type Slotted = { readonly visitor: Promise<string> }

const slotAround = page(({ data, children }: { data: Slotted; children: ReactNode }) => (
  <>
    <Suspense fallback="wait">
      <Slot value={data.visitor} />
    </Suspense>
    {children}
  </>
)) as never

test('no mark of a visitor reaches another one, and after a drop nothing dropped is sent, in any order', async () => {
  const late = page(({ data }: { data: { shown: string } & Partial<Slotted> }) => (
    <p>
      {data.shown}
      <Suspense>{data.visitor && <Slot value={data.visitor} />}</Suspense>
    </p>
  ))
  await assert(
    asyncProperty(array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const state = { version: 0, answered: 0 }
      const routeOf = (read: (args: LoaderArgs) => unknown, own = {}) => ({
        cache: 'shared' as const,
        page: late,
        loader: moduleOf({
          ...own,
          loader: async (args: LoaderArgs) => {
            args.cache({ shared: { seconds: 60, staleSeconds: 60 }, tags: ['version'] })
            const { version } = state
            const said = await read(args)
            return { shown: `version=${version}; said=${String(said)};` }
          },
        }),
      })
      const site = tinyApp({
        routes: {
          '/all': routeOf(() => 'all'),
          '/own': routeOf(({ context }) => context.cookie('user')),
          '/late': routeOf(async ({ context }) => (await Promise.resolve(), context.cookie('user'))),
          '/query': routeOf(({ search }) => search['q']),
          '/fails': routeOf(({ search }) => {
            if (search['q'] === '1') throw new Error('broken')
            return 'fine'
          }),
          '/under': { layout: around, layoutLoader: moduleOf({ loader: readsVisitor }) },
          '/under/all': routeOf(() => 'all'),
          '/slot': routeOf(() => 'all', { visitor }),
          '/slot-late': routeOf(() => 'all', { visitor: visitorLate }),
          '/slots': { layout: slotAround, layoutLoader: moduleOf({ layoutVisitor: visitorLate }) as never },
          '/slots/all': routeOf(() => 'all', { visitor }),
          '/drop': drop,
        },
      })
      await Promise.all(
        steps.map(async ({ what, path, visitor: number, query }) => {
          if (what === 'drop') {
            state.version += 1
            const { version } = state
            await request(site.app).post('/drop?what=version').set('Host', 'mills.example').expect(200)
            state.answered = Math.max(state.answered, version)
            return
          }
          const least = state.answered
          const { text, status } = await visit(
            site,
            `${what === 'click' ? '/_m/data' : ''}${path}?q=${query}&mark=mark-${number}`,
            {
              Cookie: `user=mark-${number}`,
              ...(what === 'password' ? { Authorization: 'Basic YTpi' } : {}),
            },
          )
          if (status !== 200) return expect([path, query]).toEqual(['/fails', 1])
          for (let other = 0; other <= 5; other += 1) {
            if (other !== number) expect(text).not.toContain(`mark-${other}`)
          }
          if (path.startsWith('/slot')) expect(text).toContain(`mark-${number}`)
          if (path === '/query') expect(text).toContain(`said=${query};`)
          expect(Number(/version=(\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(least)
        }),
      )
      // All drops are answered now.
      for (const path of ['/all', '/own', '/late', '/query', '/fails', '/under/all']) {
        expect((await visit(site, `${path}?q=0`)).text).toContain(`version=${state.version};`)
      }
      await site.app.stop()
    }),
    { numRuns: RUNS },
  )
}, 120_000)
