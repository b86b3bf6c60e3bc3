import { array, assert, asyncProperty, constantFrom, nat, record } from 'fast-check'
import type { ReactNode } from 'react'
import request from 'supertest'
import { expect, test } from 'vitest'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { drop, visit } from '../../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

const RUNS = 200

/** A step of a visitor. */
const step = record({
  what: constantFrom('visit', 'visit', 'click', 'click', 'drop', 'password'),
  path: constantFrom('/all', '/own', '/late', '/query', '/fails', '/under/all'),
  visitor: nat(5),
  query: nat(2),
})

const around = page(({ children }: { children: ReactNode }) => children) as never
const readsVisitor = ({ context }: LoaderArgs) => ({ user: context.cookie('user') })

test('no mark of a visitor reaches another one, and after a drop nothing dropped is sent, in any order', async () => {
  const late = page(({ data }: { data: { shown: string } }) => <p>{data.shown}</p>)
  await assert(
    asyncProperty(array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const state = { version: 0, answered: 0 }
      const routeOf = (read: (args: LoaderArgs) => unknown) => ({
        cache: 'shared' as const,
        page: late,
        loader: moduleOf({
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
          '/drop': drop,
        },
      })
      await Promise.all(
        steps.map(async ({ what, path, visitor, query }) => {
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
            `${what === 'click' ? '/_m/data' : ''}${path}?q=${query}&mark=mark-${visitor}`,
            {
              Cookie: `user=mark-${visitor}`,
              ...(what === 'password' ? { Authorization: 'Basic YTpi' } : {}),
            },
          )
          if (status !== 200) return expect([path, query]).toEqual(['/fails', 1])
          for (let other = 0; other <= 5; other += 1) {
            if (other !== visitor) expect(text).not.toContain(`mark-${other}`)
          }
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
