import { describe, expectTypeOf, it } from 'vitest'
import { Field, Form, Link, useField, useNavigate, useSearch } from '../../../src/client/index.ts'
import { defineRoutes } from '../../../src/client/define-routes.ts'
import type { Metadata, PageProps } from '../../../src/client/module-types.ts'
import { action, eventStream, sendFile, UnavailableError } from '../../../src/server/index.ts'
import { defineApp } from '../../../src/server/api/define-app.ts'
import type { GuardArgs, HandlerArgs, LoaderArgs } from '../../../src/server/api/loader-types.ts'
import type { Params } from '../../../src/shared/route-pattern.ts'
import { href } from '../../../src/shared/href.ts'

// Judged by the compiler; some of these throw when they run.
export const mistakes = () => [
  // @ts-expect-error the param is missing
  href('/u/[id]'),
  // @ts-expect-error a list is wanted
  href('/f/[...path]', { path: 'a' }),
  // @ts-expect-error a number is no text
  href('/u/[id]', { id: 7 }),
  // @ts-expect-error the pattern has no such param
  href('/u/[id]', { id: '7', other: 'x' }),
  // @ts-expect-error the search part is the third argument
  href('/lab', { q: 'x' }),
  // @ts-expect-error an object is no search value
  href('/lab', {}, { q: { nested: true } }),
  // @ts-expect-error the member is written layoutLoader, and this one would never run
  defineRoutes({ '/lab': { layout: () => load(Page), layoutloader: () => load(Page) } }),
  // @ts-expect-error a page is a component
  defineApp({ routes: defineRoutes({ '/lab': { page: () => load('page') } }), document: Page }),
]

/** What a page may not know is given as it is: new applications set `exactOptionalPropertyTypes`. */
export const unknowns = (unknown: undefined, args: LoaderArgs) => [
  () => [useField('name', null, { value: unknown }), useSearch('/lab', { defaults: unknown })],
  () => useNavigate().navigate('/lab', { replace: unknown, scroll: unknown, focus: unknown }),
  Field({ name: 'a', label: 'A', state: null, value: unknown, hint: unknown, most: unknown, className: unknown }),
  Form({ method: 'get', action: unknown, defaults: unknown, replace: unknown, scroll: unknown }),
  Link({ href: '/lab', prefetch: unknown, current: unknown, scroll: unknown }),
  { title: unknown, description: unknown, canonical: unknown, robots: unknown, openGraph: unknown } satisfies Metadata,
  href('/lab', {}, { word: unknown }, { defaults: unknown }),
  args.cache({ lifetime: unknown, tags: unknown }),
  args.context.cached('key', { seconds: 1, staleSeconds: unknown, tags: unknown }, () => 1),
  sendFile('a.png', { root: '/', download: unknown, type: unknown }),
  eventStream(({ send }) => void send({ event: unknown, id: unknown, data: 1 }), { revalidate: unknown }),
  new UnavailableError('busy', { retryAfter: unknown }),
  action({ input: unknown, upload: unknown, bodyLimit: unknown, tooLarge: unknown, handler: () => 1 }),
  defineApp({ routes: {}, document: Page, rules: unknown, reports: unknown, security: unknown, start: unknown }),
]

const Page = () => null
const load = <Component>(component: Component) => Promise.resolve({ default: component })

describe('params are typed from the pattern', () => {
  it('each sort of segment gives its own type', () => {
    expectTypeOf<Params<'/lab/params/[id]'>>().toEqualTypeOf<{ readonly id: string }>()
    expectTypeOf<Params<'/[a]/x/[b]'>>().toEqualTypeOf<{ readonly a: string; readonly b: string }>()
    expectTypeOf<Params<'/files/[...path]'>>().toEqualTypeOf<{ readonly path: readonly string[] }>()
    expectTypeOf<Params<'/[[...s]]'>>().toEqualTypeOf<{ readonly s?: readonly string[] }>()
    expectTypeOf<Params<'/[lang]/docs/[[...slug]]'>>().toEqualTypeOf<{
      readonly lang: string
      readonly slug?: readonly string[]
    }>()
  })

  it('a guard gets those of its own entry, and nothing to cache', () => {
    expectTypeOf<GuardArgs<'/shops/[shop]'>['params']>().toEqualTypeOf<{ readonly shop: string }>()
    expectTypeOf<keyof GuardArgs>().toEqualTypeOf<'params' | 'search' | 'request' | 'signal' | 'context'>()
  })

  it('a handler gets a body where its schema makes one', () => {
    expectTypeOf<HandlerArgs<'/shops/[shop]'>['body']>().toEqualTypeOf<undefined>()
    expectTypeOf<HandlerArgs<'/shops/[shop]', { name: string }>['body']>().toEqualTypeOf<{ name: string }>()
    expectTypeOf<HandlerArgs<'/shops/[shop]', { name: string }>['params']>().toEqualTypeOf<{ readonly shop: string }>()
  })

  it('groups and static segments give nothing', () => {
    expectTypeOf<keyof Params<'/'>>().toEqualTypeOf<never>()
    expectTypeOf<keyof Params<'/(site)/lab'>>().toEqualTypeOf<never>()
    expectTypeOf<Params<'/(site)/[id]'>>().toEqualTypeOf<{ readonly id: string }>()
  })

  it('an unknown pattern may give anything, and is the default of page props', () => {
    expectTypeOf<Params<string>>().toEqualTypeOf<Readonly<Record<string, string | readonly string[]>>>()
    expectTypeOf<PageProps['params']>().toEqualTypeOf<Params<string>>()
    expectTypeOf<PageProps<'/u/[id]'>['params']>().toEqualTypeOf<{ readonly id: string }>()
  })
})

describe('links are checked against the pattern', () => {
  it('params are required where the pattern needs them, and only those', () => {
    expectTypeOf(href<'/lab'>)
      .parameter(1)
      .toEqualTypeOf<Readonly<Record<string, never>> | undefined>()
    expectTypeOf(href<'/u/[id]'>)
      .parameter(1)
      .toEqualTypeOf<{ readonly id: string }>()
    expectTypeOf(href<'/[[...s]]'>)
      .parameter(1)
      .toEqualTypeOf<{ readonly s?: readonly string[] } | undefined>()
  })

  it("a page's own params can be handed on", () => {
    const params = {} as Params<'/[lang]/docs/[[...slug]]'>
    expectTypeOf(href<'/[lang]/docs/[[...slug]]'>).toBeCallableWith('/[lang]/docs/[[...slug]]', params)
    const anyPattern = '/x' as string
    expectTypeOf(href(anyPattern)).toEqualTypeOf<string>()
  })
})
