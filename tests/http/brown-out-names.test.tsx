/** Which documents are the same when they are given out again: those that differ only in search params that nothing has read. */
import type { ReactNode } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Link, useLocation, useSearch } from '../../src/client/index.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import type { MillraceApp } from '../../src/server/app.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

/** All visits are of one host, whatever port a test listens on. */
const visitor = (app: MillraceApp) => request.agent(app).set('Host', 'mills.example')

async function overload(app: MillraceApp): Promise<void> {
  for (let sample = 0; sample < 50; sample += 1) app.admission.sample({ latenessMs: 4_000, utilization: 1 })
  // A tenth is always let in: this is the one.
  await visitor(app).get('/let-in').expect(404)
}

const forAll = ({ context }: LoaderArgs): void => context.headers.set('Cache-Control', 'public, max-age=60')

async function appOf(
  route: {
    loader?: (args: LoaderArgs) => unknown
    component?: (props: { search: object }) => ReactNode
    search?: unknown
  },
  actions: Record<string, unknown> = {},
) {
  const loader = (args: LoaderArgs): unknown => (forAll(args), route.loader?.(args))
  const module = { loader, ...(route.search === undefined ? {} : { search: route.search }) }
  const { app } = tinyApp({
    routes: { '/': { page: page(route.component ?? (() => <p>the same</p>)), loader: moduleOf(module) } } as never,
    actions: { 'actions.server.ts': actions as never },
  })
  return app
}

function Reader() {
  const [search] = useSearch()
  return <p>{(search as { readonly a?: string }).a}</p>
}

function Path() {
  return (
    <Link href="/" current="exact">
      {useLocation().pathname}
    </Link>
  )
}

const handedOver = (text: string): unknown => /"values":(\{.*?\})\}<\/script>/.exec(text)?.[1]

describe('a document that was made for one query', () => {
  test('is given out for another that differs in what nothing reads, and holds nothing of the first', async () => {
    const app = await appOf({})
    const made = await visitor(app).get('/?token=a-secret').expect(200)
    expect(made.text).toContain('a-secret')
    await overload(app)
    for (const path of ['/', '/?x=2', '/?token=another']) {
      const { text, headers } = await visitor(app).get(path).expect(200)
      expect(text).not.toContain('a-secret')
      expect(handedOver(text)).toBe('{"search":{},"data":{}}')
      expect(headers['etag']).not.toBe(made.headers['etag'])
    }
  })

  test.for([
    ['a loader reads one', { loader: ({ search }: LoaderArgs) => ({ a: search['a'] ?? '' }) }],
    ['a schema reads one', { search: z.object({ a: z.string().default('') }) }],
    ['the page reads one', { component: ({ search }: { search: { a?: string } }) => <p>{search.a}</p> }],
    ['a hook of the page reads one', { component: Reader }],
  ] as const)('where %s, is the document of that one alone', async ([, route]) => {
    const app = await appOf(route as never)
    await visitor(app).get('/?a=1&x=1').expect(200)
    await visitor(app).get('/?x=2&a=1').expect(200)
    await visitor(app).get('/?a=2').expect(200)
    expect(app.caches.documents.entries).toBe(2)
    await overload(app)
    expect((await visitor(app).get('/?y=9&a=1').expect(200)).text).toContain('"a":"1"')
    expect((await visitor(app).get('/?a=2').expect(200)).text).toContain('"a":"2"')
    await visitor(app).get('/?a=3').expect(503)
    await visitor(app).get('/').expect(503)
  })

  test.for([
    ['a loader reads all', { loader: ({ search }: LoaderArgs) => ({ ...search }) }],
    ['the page reads all', { component: ({ search }: { search: object }) => <p>{JSON.stringify(search)}</p> }],
  ] as const)('where %s, is the document of that query alone', async ([, route]) => {
    const app = await appOf(route as never)
    await visitor(app).get('/?a=1').expect(200)
    await overload(app)
    await visitor(app).get('/?a=1').expect(200)
    await visitor(app).get('/?a=1&b=1').expect(503)
  })

  test.for([
    ['shows its query', () => <p>{useLocation().search}</p>],
    ['marks links by it', () => <Link href="/?a=1" current="exact" />],
  ] as const)('where it %s, is that of its own query', async ([, component]) => {
    const app = await appOf({ component })
    await visitor(app).get('/?a=1').expect(200)
    await overload(app)
    expect((await visitor(app).get('/?a=1').expect(200)).text).toMatch(/\?a=1<\/p>|aria-current/)
    await visitor(app).get('/?a=2').expect(503)
  })

  test('where it shows its path alone, is that of every query', async () => {
    const app = await appOf({ component: Path })
    await visitor(app).get('/?a=1').expect(200)
    await overload(app)
    await visitor(app).get('/?a=2').expect(200)
  })

  test('where it has a form, is that of its own query: the form is sent there', async () => {
    const save = action({ handler: () => undefined })
    const app = await appOf({ component: () => <form action={save as never} /> }, { save })
    await visitor(app).get('/?a=1').expect(200)
    await overload(app)
    expect((await visitor(app).get('/?a=1').expect(200)).text).toContain('/?a=1&amp;_action=')
    await visitor(app).get('/?a=2').expect(503)
  })
})

describe('one client with a thousand queries', () => {
  test('makes one copy of what reads none of them', async () => {
    const app = await appOf({})
    for (let at = 0; at < 60; at += 1) await visitor(app).get(`/?x=${at}`).expect(200)
    expect(app.caches.documents.entries).toBe(1)
  })

  test('makes 32 at most of what reads them all', async () => {
    const app = await appOf({ loader: ({ search }) => ({ ...search }) })
    for (let at = 0; at < 60; at += 1) await visitor(app).get(`/?x=${at}`).expect(200)
    expect(app.caches.documents.entries).toBe(32)
    await overload(app)
    await visitor(app).get('/?x=59').expect(200)
    await visitor(app).get('/?x=0').expect(503)
  })
})
