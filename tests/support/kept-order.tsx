import { array, assert, asyncProperty, constantFrom, nat, record, stringMatching } from 'fast-check'
import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { expect } from 'vitest'
import type { LoaderArgs, VisitorArgs } from '../../src/server/api/loader-types.ts'
import type { VariantRequest } from '../../src/shared/route-definition.ts'
import { drop, visit } from './kept-pages.tsx'
import { moduleOf, page, tinyApp, type TinyApp } from './tiny-app.tsx'

const VISITORS = 6
const INSTANCES = 3
const HOSTS = ['mills.example', 'other.example']
const PLAIN = ['/all', '/own', '/late', '/query', '/fails', '/under/all', '/variant']
const SLOTTED = ['/slot', '/slot-late', '/slots/all']
const PATIENCE = { timeout: 10_000 } // another instance hears through Redis

/** What one visitor does. */
interface Step {
  readonly what: string
  readonly path: string
  readonly visitor: number
  readonly query: number
  readonly host: string
  /** A name of a search param and of a cookie that nothing reads. */
  readonly unread: string
  readonly instance: number
}

const step = record<Step>({
  what: constantFrom('visit', 'visit', 'click', 'click', 'drop', 'password'),
  path: constantFrom(...PLAIN, ...SLOTTED),
  visitor: nat(VISITORS - 1),
  query: nat(2),
  host: constantFrom(...HOSTS),
  unread: stringMatching(/^x[\w.~[\]-]{0,8}$/),
  instance: nat(INSTANCES - 1),
})

/** The data of all pages: each drop makes another version of it. */
interface Versions {
  version: number
  /** By instance: the last version whose drop it has answered. */
  readonly answered: number[]
}

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

const late = page(({ data }: { data: { shown: string } & Partial<Slotted> }) => (
  <p>
    {data.shown}
    <Suspense>{data.visitor && <Slot value={data.visitor} />}</Suspense>
  </p>
))

function openSite(state: Versions, environment: Readonly<Record<string, string>>): TinyApp {
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
  const variants = {
    host: ({ host }: VariantRequest) => host,
    user: ({ cookies }: VariantRequest) => String(cookies['user']),
  }
  return tinyApp({
    environment,
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
      '/variant': { ...routeOf(({ variants: { user, host } }) => `${user}@${host}`), variants },
      '/slot': routeOf(() => 'all', { visitor }),
      '/slot-late': routeOf(() => 'all', { visitor: visitorLate }),
      '/slots': { layout: slotAround, layoutLoader: moduleOf({ layoutVisitor: visitorLate }) as never },
      '/slots/all': routeOf(() => 'all', { visitor }),
      '/drop': drop,
    },
  })
}

async function take(
  { what, path, visitor: number, query, host, unread }: Step,
  site: TinyApp,
): Promise<string | undefined> {
  const mark = `mark-${number}`
  const url = `${what === 'click' ? '/_m/data' : ''}${path}?q=${query}&${encodeURIComponent(unread)}=${mark}`
  const { text, status } = await visit(site, url, {
    Host: host,
    Cookie: `user=${mark}; ${encodeURIComponent(unread)}=${mark}`,
    ...(what === 'password' ? { Authorization: 'Basic YTpi' } : {}),
  })
  if (status !== 200) return void expect([path, query, status]).toEqual(['/fails', 1, 500])
  for (let other = 0; other < VISITORS; other += 1) {
    if (other !== number) expect(text).not.toContain(`mark-${other}`)
  }
  for (const other of HOSTS) if (other !== host) expect(text).not.toContain(other)
  if (SLOTTED.includes(path)) expect(text).toContain(mark)
  if (path === '/query') expect(text).toContain(`said=${query};`)
  if (path === '/variant') expect(text).toContain(`said=${mark}@${host};`)
  return text
}

const versionIn = (text: string): number => Number(/version=(\d+)/.exec(text)?.[1])

async function dropVersion(state: Versions, { app }: TinyApp, at: number): Promise<void> {
  state.version += 1
  const { version } = state
  await request(app).post('/drop?what=version').set('Host', 'mills.example').expect(200)
  await request(app).post('/drop?what=version').set('Host', 'mills.example').expect(200)
  state.answered[at] = Math.max(state.answered[at] ?? 0, version)
}

async function runCase(given: readonly Step[], sites: readonly TinyApp[], state: Versions): Promise<void> {
  await Promise.all(
    given.map(async (each) => {
      const at = each.instance % sites.length
      const site = sites[at] as TinyApp
      if (each.what === 'drop') return dropVersion(state, site, at)
      const least = state.answered[at] ?? 0
      const text = await take(each, site)
      if (text !== undefined) expect(versionIn(text)).toBeGreaterThanOrEqual(least)
    }),
  )
  // All drops are answered now.
  for (const site of sites) {
    for (const path of PLAIN) {
      const version = async (): Promise<number> => versionIn((await visit(site, `${path}?q=0`)).text)
      if (sites.length === 1) expect(await version()).toBe(state.version)
      else await expect.poll(version, PATIENCE).toBe(state.version)
    }
  }
}

/**
 * Runs visits, clicks and drops in any order, and looks whether a mark of a visitor reaches another one, and whether what was
 * dropped is sent.
 * @param redis of three instances, which live for all cases; without it each case has a server of its own.
 * @throws {Error} with the steps that have shown it.
 */
export async function expectKeptPrivacy(cases: number, redis?: string): Promise<void> {
  const versions = (): Versions => ({ version: 0, answered: [] })
  const shared = versions()
  const environment = { REDIS_URL: redis ?? '', SECRET_KEYS: 'a-key-for-tests-of-some-length' }
  const instances = Array.from({ length: redis === undefined ? 0 : INSTANCES }, () => openSite(shared, environment))
  for (const site of instances) {
    await expect.poll(async () => (await visit(site, '/all')).headers['cache-status'], PATIENCE).toContain('hit')
  }
  const property = asyncProperty(array(step, { minLength: 5, maxLength: 25 }), async (given) => {
    if (redis !== undefined) return runCase(given, instances, shared)
    const state = versions()
    const site = openSite(state, {})
    await runCase(given, [site], state)
    await site.app.stop()
  })
  await assert(property, { numRuns: cases })
  await Promise.all(instances.map(({ app }) => app.stop()))
}
