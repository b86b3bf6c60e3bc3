/** A kept page that looks at the URL's query while it renders: each visitor gets that of its own query. */
import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use, type ReactNode } from 'react'
import { expect, test } from 'vitest'
import { useLocation } from '../../src/client/hooks/use-location.ts'
import type { VisitorArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import { statusOf, visit } from '../support/kept-pages.tsx'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const save = action({ handler: () => undefined })

/** How the render of `?bad` ends. */
const ENDS: Readonly<Record<string, () => ReactNode>> = {
  'is not found': () => notFound(),
  redirects: () => redirect('/elsewhere'),
  throws: () => {
    throw new Error('no such tab')
  },
  'has a part that fails': () => (
    <Suspense fallback="…">
      <Failing />
    </Suspense>
  ),
}

/** Sends it without waiting for the answer. */
const started = async (sent: ReturnType<typeof visit>) => sent

function Failing(): ReactNode {
  throw new Error('no such part')
}

test.for(Object.entries(ENDS))('%s for one query alone', async ([, end]) => {
  const Shown = (): ReactNode => {
    const { search } = useLocation()
    return search === '?bad' ? end() : <p>{`shown for ${search}`}</p>
  }
  const loader = async () => (await delay(30), {})
  const site = tinyApp({
    routes: { '/': { cache: 'shared', page: page(Shown), loader: moduleOf({ loader }), ...fallbacks('root') } },
  })
  for (let round = 0; round < 2; round += 1) {
    const stranger = started(visit(site, '/?bad').redirects(0))
    await delay(10)
    const others = await Promise.all(['/', '/?good', '/?other'].map((path) => visit(site, path)))
    for (const [at, search] of ['', '?good', '?other'].entries()) {
      expect(others[at]?.text).toContain(`shown for ${search}`)
      expect([others[at]?.status, statusOf(others[at] as never)]).toEqual([
        200,
        expect.stringMatching(round === 0 ? /stored/ : /hit/),
      ])
    }
    expect((await stranger).text).not.toContain('shown for')
  }
})

test('a form that was rendered before the page stops counts as a look at the query', async () => {
  const Stops = (): ReactNode => {
    const { pathname } = useLocation()
    return pathname === '/' && asked.pop() === 'bad' ? notFound() : <p>shown</p>
  }
  const asked: string[] = ['bad']
  const loader = async () => (await delay(30), {})
  const site = tinyApp({
    actions: { 'actions.server.ts': { save } },
    routes: {
      '/': {
        cache: 'shared',
        page: page(() => (
          <>
            <form action={save as never} />
            <Stops />
          </>
        )),
        loader: moduleOf({ loader }),
        ...fallbacks('root'),
      },
    },
  } as never)
  const stranger = started(visit(site, '/?bad'))
  await delay(10)
  expect((await visit(site, '/')).status).toBe(200)
  expect((await stranger).status).toBe(404)
})

test.for([
  ['a cookie', (args: VisitorArgs) => ({ name: args.context.cookie('visitor') ?? 'nobody' })],
  ['the address', (args: VisitorArgs) => ({ name: `${args.context.address} ${args.context.cookie('visitor')}` })],
  ['what fails for strangers', (args: VisitorArgs) => ({ name: args.context.cookie('visitor') ?? notFound() })],
] as const)('what a slot alone reads of the query is its own after the first time, beside %s', async ([, visitor]) => {
  const Slot = ({ of, search }: { of: Promise<{ name: string }>; search: { page?: string } }) => {
    const { name } = use(of)
    return <b>{name === 'nobody' ? 'visitor nobody' : `visitor on ${search.page ?? 'no page'}`}</b>
  }
  type Shown = { data: { visitor: Promise<{ name: string }> }; search: { page?: string } }
  const Page = ({ data, search }: Shown) => (
    <Suspense fallback="…">
      <Slot of={data.visitor} search={search} />
    </Suspense>
  )
  const site = tinyApp({
    routes: {
      '/': {
        cache: 'shared',
        page: page(Page as never),
        loader: moduleOf({ loader: () => ({}), visitor: visitor as never }),
      },
    },
  })
  const ask = async (path: string, as?: string) => {
    const answer = await visit(site, path, as === undefined ? {} : { Cookie: `visitor=${as}` })
    return /visitor (?:on [\w ]+|nobody)/.exec(answer.text.replaceAll('<!-- -->', ''))?.[0]
  }
  await ask('/?gclid=1')
  await ask('/?page=1', 'ann')
  for (const page of ['2', '3', '2']) {
    expect(await ask(`/?page=${page}&gclid=${page}`, 'ann')).toBe(`visitor on ${page}`)
  }
  expect(await ask('/?gclid=2', 'ann')).toBe('visitor on no page')
  const again = await visit(site, '/?page=2&gclid=9', { Cookie: 'visitor=bob' })
  expect([statusOf(again), again.text]).toEqual([expect.stringContaining('hit'), expect.stringContaining('on 2')])
})
