/** Kept pages under what loaders lawfully do, what visitors choose, and what fails: docs/decisions/0071. */
import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use } from 'react'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ErrorBoundary, useLocation, useServerInsertedHTML } from '../../../src/client/index.ts'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { notFound } from '../../../src/shared/control-flow.ts'
import { counted, numberOf, statusOf, visit, withClock } from '../../support/kept-pages.tsx'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

/** What would end the process of a server. */
function watchUnhandled(): readonly unknown[] {
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  const seen: unknown[] = []
  const note = (reason: unknown): void => void seen.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    for (const each of others) process.on('unhandledRejection', each)
  })
  return seen
}

function Late({ late }: { readonly late: Promise<string> }) {
  return <p>{use(late)}</p>
}

const shown = page(({ data }: { data: { user: string } }) => <p>user is {data.user}.</p>)

describe('a promise that a loader begins first and awaits later', () => {
  test.for([
    ['reads a cookie', async ({ context }: LoaderArgs) => context.cookie('user')],
    ['reads the request', async ({ context, request }: LoaderArgs) => request.headers.get('cookie') && context.address],
    ['counts against a limit', async ({ context }: LoaderArgs) => context.limit('x', { points: 9, seconds: 9 })],
    ['does something afterwards', async ({ context }: LoaderArgs) => context.after(() => undefined)],
  ] as const)('%s: nothing is thrown that nobody awaits, and the visitor has an own page', async ([, read]) => {
    const seen = watchUnhandled()
    const loader = async (args: LoaderArgs) => {
      const reading = read(args)
      const mill = args.context.cached('mill', { seconds: 5 }, async () => (await delay(30), 'mill'))
      await delay(10)
      await reading
      return { user: `${args.context.cookie('user')} of ${await mill}` }
    }
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: shown, loader: moduleOf({ loader }) } } })
    const answer = await visit(site, '/', { Cookie: 'user=ann' })
    expect(answer.text).toContain('ann of mill')
    expect(statusOf(answer)).toContain('fwd=bypass')
    await delay(60)
    expect(seen).toEqual([])
  })

  test('is that of cached, and the visitor of an ordinary page leaves', async () => {
    const seen = watchUnhandled()
    const made = Promise.withResolvers<string>()
    const left = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const loader = async ({ context, signal }: LoaderArgs) => {
      const mill = context.cached('mill', { seconds: 5 }, () => made.promise)
      signal.addEventListener('abort', () => left.resolve())
      begun.resolve()
      await left.promise
      await delay(10)
      return { user: await mill }
    }
    const site = tinyApp({ routes: { '/': { page: shown, loader: moduleOf({ loader }) } } })
    const asked = visit(site)
    asked.end(() => undefined)
    await begun.promise
    asked.abort()
    await left.promise
    await delay(30)
    made.resolve('mill')
    expect(seen).toEqual([])
  })
})

describe('the query', () => {
  test('that a component reads counts, also if the first visitor had none', async () => {
    const component = page(({ search }: { search: Record<string, string> }) => (
      <p>{`q is ${search['q'] ?? 'none'}.`}</p>
    ))
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: component } } })
    const first = await visit(site)
    const other = await visit(site, '/?q=one')
    const again = await visit(site)
    expect([first, other, again].map(({ text }) => /q is \w+/.exec(text)?.[0])).toEqual([
      'q is none',
      'q is one',
      'q is none',
    ])
    expect(statusOf(again)).toContain('hit')
  })

  test('that a deferred value reads after its loader has returned counts', async () => {
    const deferred = page(({ data }: { data: { late: Promise<string> } }) => (
      <Suspense>
        <Late late={data.late} />
      </Suspense>
    ))
    const late = async (args: LoaderArgs): Promise<string> => {
      await delay(5)
      return `q is ${String(args.search['q'])}.`
    }
    const loader = moduleOf({ loader: (args: LoaderArgs) => ({ late: late(args) }) })
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: deferred, loader } } })
    for (const q of ['bob', 'ann', 'bob']) expect((await visit(site, `/?q=${q}`)).text).toContain(`q is ${q}.`)
  })

  test.for(['useLocation', 'useSearch'] as const)('that %s gives to inserted HTML counts', async (hook) => {
    const component = page(({ search }: { search: Record<string, string> }) => {
      const location = useLocation()
      useServerInsertedHTML(() => (
        <meta name="q" content={hook === 'useSearch' ? String(search['q']) : location.search} />
      ))
      return <p>Here</p>
    })
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: component } } })
    for (const q of ['bob', 'ann', 'bob']) {
      expect(/name="q" content="(?:\?q=)?(\w+)"/.exec((await visit(site, `/?q=${q}`)).text)?.[1]).toBe(q)
    }
    expect(statusOf(await visit(site, '/?q=ann'))).toContain('hit')
  })

  test('of slow refusals holds up no other for more than one of them', async () => {
    const { state, route } = counted(async ({ search }) => {
      if (search['q'] === 'good') return 'good'
      await delay(200)
      return notFound()
    })
    const site = tinyApp({ routes: { '/': route } })
    const bad = Array.from({ length: 10 }, (_, index) => visit(site, `/?q=bad${index}`).then(({ status }) => status))
    await expect.poll(() => state.made).toBe(1)
    const good = await visit(site, '/?q=good')
    expect([numberOf(good), statusOf(good)]).toEqual([
      expect.stringContaining('for good'),
      expect.stringContaining('stored'),
    ])
    expect(new Set(await Promise.all(bad))).toEqual(new Set([404]))
  })
})

test('a client who has all its places full delays nobody else who asks for a kept page', async () => {
  const open = Promise.withResolvers<void>()
  const { route } = counted()
  const slow = moduleOf({ loader: async () => (await open.promise, {}) })
  const arrived = { count: 0 }
  const site = tinyApp({
    routes: { '/': route, '/slow': { page: page(() => <p>slow</p>), loader: slow } },
    environment: { MAX_PENDING_RENDERS: '4', TRUST_PROXY: '127.0.0.0/8,::1' },
    middleware: [
      (_req, _res, next) => {
        arrived.count += 1
        next()
      },
    ],
  })
  const from = (ip: string) => ({ 'X-Forwarded-For': ip })
  const slows = Array.from({ length: 12 }, () => visit(site, '/slow', from('10.0.0.1')).then(({ status }) => status))
  await expect.poll(() => arrived.count).toBe(12)
  const greedy = visit(site, '/', from('10.0.0.1')).then(({ status }) => status)
  await expect.poll(() => arrived.count).toBe(13)
  const others = await Promise.all([2, 3, 4].map((net) => visit(site, '/', from(`10.0.${net}.1`))))
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
  open.resolve()
  await Promise.all([...slows, greedy])
})

test('a document without the HTML that a component could not insert is not kept', async () => {
  const component = page(() => {
    useServerInsertedHTML(() => {
      throw new Error('no styles')
    })
    return <p>Here</p>
  })
  const site = tinyApp({ routes: { '/': { cache: 'shared', page: component } } })
  const { status, headers } = await visit(site)
  expect([status, statusOf({ headers })]).toEqual([200, 'Millrace; fwd=bypass; detail="failed"'])
})

describe('a document that is made again', () => {
  test('goes on while a part of the new one fails, and is made again soon after', async () => {
    const pass = withClock()
    const state = { made: 0, fails: false }
    const loader = ({ cache }: LoaderArgs) => {
      cache({ shared: { seconds: 5, staleSeconds: 600 } })
      state.made += 1
      const { fails } = state
      const value = async (): Promise<string> => {
        await delay(5)
        if (fails) throw new Error('the database is away')
        return 'good'
      }
      return { late: value() }
    }
    const part = page(({ data }: { data: { late: Promise<string> } }) => (
      <ErrorBoundary fallback={() => <p>part failed</p>}>
        <Suspense fallback="wait">
          <Late late={data.late} />
        </Suspense>
      </ErrorBoundary>
    ))
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: part, loader: moduleOf({ loader }) } } })
    await visit(site)
    state.fails = true
    pass(6_000)
    expect(statusOf(await visit(site))).toContain('fwd=stale')
    await expect.poll(() => state.made).toBe(2)
    await delay(50)
    for (const answer of await Promise.all(Array.from({ length: 5 }, () => visit(site)))) {
      expect(answer.text).toContain('good')
      expect(statusOf(answer)).toContain('fwd=stale')
    }
    expect(state.made).toBe(2)
    state.fails = false
    pass(6_000)
    await visit(site)
    await expect.poll(async () => statusOf(await visit(site))).toContain('hit')
  })

  test('brings its own headers, also if its content is the same', async () => {
    const pass = withClock()
    let made = 0
    const loader = ({ context, cache }: LoaderArgs) => {
      cache({ shared: { seconds: 5, staleSeconds: 600 } })
      made += 1
      context.headers.set('X-Robots-Tag', made === 1 ? 'all' : 'noindex')
      return { user: 'x' }
    }
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: shown, loader: moduleOf({ loader }) } } })
    expect((await visit(site)).headers['x-robots-tag']).toBe('all')
    pass(6_000)
    await visit(site)
    await expect.poll(async () => (await visit(site)).headers['x-robots-tag']).toBe('noindex')
  })
})
