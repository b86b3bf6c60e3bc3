import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { notFound } from '../../src/shared/control-flow.ts'
import { getData, wanting } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })

/** What is said of the page at `/` with this server module: in its data, and in its document. */
async function factsOf(module: object, query = '?a=1&b=2') {
  const { app } = tinyApp({ routes: { '/': { ...fallbacks('root'), page: hello, loader: moduleOf(module) } } })
  const { uses, lifetime, tags } = (await getData(app, `/_m/data/${query}`)).records[1] ?? {}
  const document = await getData(app, `/${query}`)
  const json = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(document.text)?.[1] ?? '{}'
  const { v, meta } = JSON.parse(json) as { v: number; meta?: Record<string, object> }
  expect(v).toBe(3)
  return { data: { uses, lifetime, tags }, document: meta?.['/#page'] ?? {} }
}

describe('the search params that data depends on', () => {
  type Args = LoaderArgs
  test.for<readonly [string, object, unknown]>([
    ['none', { loader: ({ search }: Args) => typeof search }, undefined],
    ['one that is read', { loader: ({ search }: Args) => search['a'] }, ['a']],
    ['one that is not there', { loader: ({ search }: Args) => search['zz'] ?? null }, ['zz']],
    ['one that is looked for', { loader: ({ search }: Args) => 'b' in search }, ['b']],
    ['one that is asked for by hasOwn', { loader: ({ search }: Args) => Object.hasOwn(search, 'b') }, ['b']],
    ['several, in order', { loader: ({ search }: Args) => [search['b'], search['a'], search['b']] }, ['a', 'b']],
    ['after waiting', { loader: async ({ search }: Args) => (await Promise.resolve(), search['a']) }, ['a']],
    ['all that are listed', { loader: ({ search }: Args) => Object.keys(search) }, true],
    ['all that are copied', { loader: ({ search }: Args) => ({ ...search }) }, true],
    ['all that are returned', { loader: ({ search }: Args) => search }, true],
    ['all that are returned somewhere', { loader: ({ search }: Args) => ({ list: [new Map([['x', search]])] }) }, true],
    ['those of the request', { loader: ({ request }: Args) => request.method }, true],
    ['those of all arguments', { loader: ({ ...args }: Args) => args.params }, true],
    ['what a promise may still read', { loader: ({ search }: Args) => ({ late: later(() => search['a']) }) }, true],
    [
      'not what a promise does not get',
      { loader: ({ params }: Args) => ({ late: later(() => params['a'] ?? null) }) },
      undefined,
    ],
    [
      'those of a schema',
      { search: z.object({ b: z.string(), c: z.string().default('x') }), loader: () => 1 },
      ['b', 'c'],
    ],
    ['those of a schema alone', { search: z.object({ a: z.coerce.number() }) }, ['a']],
    ['all of a loose schema', { search: z.looseObject({ a: z.string() }), loader: () => 1 }, true],
    ['all of a strict schema', { search: z.strictObject({ a: z.string(), b: z.string() }), loader: () => 1 }, true],
    ['all of a record', { search: z.record(z.string(), z.string()), loader: () => 1 }, true],
    ['all of any', { search: z.any(), loader: () => 1 }, true],
    [
      'those of a refined schema',
      { search: z.object({ a: z.string() }).refine(({ a }) => a !== ''), loader: () => 1 },
      ['a'],
    ],
    [
      'those of a pipe',
      { search: z.object({ a: z.string() }).transform(({ a }) => ({ n: a })), loader: () => 1 },
      ['a'],
    ],
  ])('%s', async ([, module, expected]) => {
    const { data, document } = await factsOf(module)
    expect(data.uses).toEqual(expected)
    expect(document).toEqual(expected === undefined ? {} : { uses: expected })
  })

  async function later(read: () => unknown): Promise<unknown> {
    await Promise.resolve()
    return read()
  }
})

describe('how long data is kept', () => {
  test.for<readonly [string, (args: LoaderArgs) => unknown, object]>([
    ['as by default', () => 1, {}],
    ['as said', ({ cache }) => cache({ lifetime: 5, tags: ['a'] }), { lifetime: 5, tags: ['a'] }],
    ['not at all', ({ cache }) => cache({ lifetime: 'no-store' }), { lifetime: 0 }],
    [
      'as said last, under all names',
      ({ cache }) => {
        cache({ lifetime: 5, tags: ['b', 'a'] })
        cache({ lifetime: 7, tags: ['a', 'c'] })
        cache({})
      },
      { lifetime: 7, tags: ['b', 'a', 'c'] },
    ],
    [
      'not at all where the answer is no-store',
      ({ cache, context }) => {
        cache({ lifetime: 5 })
        context.headers.set('Cache-Control', 'private, no-store')
      },
      { lifetime: 0 },
    ],
    ['as by default under another Cache-Control', ({ context }) => context.headers.set('Cache-Control', 'private'), {}],
  ])('%s', async ([, loader, expected]) => {
    const { data, document } = await factsOf({ loader: (args: LoaderArgs) => void loader(args) })
    expect(JSON.parse(JSON.stringify(data))).toEqual(expected)
    expect(document).toEqual(expected)
  })

  test.for([-1, Number.NaN, Number.POSITIVE_INFINITY])('never %d seconds, which fails', async (lifetime) => {
    const { app, logs } = tinyApp({
      routes: {
        '/': { page: hello, loader: moduleOf({ loader: ({ cache }: LoaderArgs) => cache({ lifetime }) }) },
      },
    })
    expect((await getData(app, '/_m/data/')).status).toBe(500)
    expect(JSON.stringify(logs)).toContain('a lifetime is a number of seconds')
  })

  test('no-store of one loader holds for every segment', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          layout,
          layoutLoader: moduleOf({
            loader: ({ context }: LoaderArgs) => void context.headers.set('Cache-Control', 'no-store'),
          }),
          page: hello,
          loader: moduleOf({ loader: () => 1 }),
        },
      },
    })
    const { records } = await getData(app, '/_m/data/')
    expect(records.flatMap(({ segment, lifetime }) => (segment === undefined ? [] : [lifetime]))).toEqual([0, 0])
  })

  test('means nothing to a resource', async () => {
    const { app } = tinyApp({
      routes: {
        '/feed': {
          handler: moduleOf({
            GET({ cache }: LoaderArgs) {
              cache({ lifetime: 5 })
              return new Response('fed')
            },
          }),
        },
      },
    })
    expect((await getData(app, '/feed')).text).toBe('fed')
  })
})

describe('a document', () => {
  test('without loaders says nothing of its data', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const { text } = await getData(app, '/?a=1')
    expect(text).toContain('{"v":3,"build":"development","route":"/","asks":[],"params":{},"values":')
  })

  test('of a fallback speaks of what is shown only', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          layout,
          layoutLoader: moduleOf({ loader: ({ search }: LoaderArgs) => search['site'] }),
        },
        '/a': {
          layout,
          layoutLoader: moduleOf({ loader: ({ search }: LoaderArgs) => search['section'] }),
          page: hello,
        },
        '/a/b': { page: hello, loader: moduleOf({ loader: () => notFound() }) },
      },
    })
    const { text } = await getData(app, '/a/b')
    expect(text).toContain('"meta":{"/#layout":{"uses":["site"]}}')
  })
})

describe('params', () => {
  const seen: Record<string, unknown> = {}
  const watch = (name: string) => moduleOf({ loader: ({ params }: LoaderArgs) => void (seen[name] = { ...params }) })
  const { app } = tinyApp({
    routes: {
      '/': { layout, layoutLoader: watch('root') },
      '/(site)/mills/[id]': { layout, layoutLoader: watch('mill') },
      '/(site)/mills/[id]/rooms/[...path]': { layout, layoutLoader: watch('room'), page: hello, loader: watch('page') },
    },
  })

  test.for(['', '/_m/data'])('of a layout’s loader are those of its own pattern: %j', async (prefix) => {
    const query = prefix === '' ? '' : `?${wanting('/(site)/mills/[id]/rooms/[...path]#page')}`
    expect((await getData(app, `${prefix}/mills/7/rooms/a/b${query}`)).status).toBe(200)
    const all = { id: '7', path: ['a', 'b'] }
    expect(seen).toEqual({ root: {}, mill: { id: '7' }, room: all, page: all })
  })
})
