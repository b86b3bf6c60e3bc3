/** What authors are promised of `dataLifetime`: how long browsers keep what loaders do not say it of. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AppDefinition, DataLifetime } from '../../src/server/api/define-app.ts'
import type { LoaderArgs, LoaderContext } from '../../src/server/api/loader-types.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { getData } from '../support/route-data.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const sessions = defineSession({ schema: z.object({ user: z.string() }) })

const LOADERS = {
  plain: () => 1,
  says: ({ cache }: LoaderArgs) => cache({ lifetime: 5 }),
  async session({ context }: LoaderArgs) {
    await undefined
    await sessions.open(context)
  },
  async sessionSays({ context, cache }: LoaderArgs) {
    cache({ lifetime: 5 })
    await sessions.open(context)
  },
}

function appWith(loaders: Readonly<Record<string, unknown>>, dataLifetime: AppDefinition['dataLifetime']) {
  const routes = Object.entries(loaders).map(([name, loader]) => [
    `/${name}`,
    { page: page(() => <p>page</p>), loader: moduleOf({ loader }) },
  ])
  const { app } = tinyApp({
    routes: Object.fromEntries(routes) as never,
    ...(dataLifetime === undefined ? {} : { dataLifetime }),
  })
  return app
}

describe.for([
  [undefined, { plain: undefined, says: 5, session: undefined, sessionSays: 5 }],
  [{ seconds: 10 }, { plain: 10, says: 5, session: 10, sessionSays: 5 }],
  [{ session: 0 }, { plain: undefined, says: 5, session: 0, sessionSays: 5 }],
  [
    { seconds: 10, session: 0 },
    { plain: 10, says: 5, session: 0, sessionSays: 5 },
  ],
  [{ seconds: 0 }, { plain: 0, says: 5, session: 0, sessionSays: 5 }],
] as const)('with %j', ([lifetime, expected]) => {
  test.for(Object.keys(LOADERS) as (keyof typeof LOADERS)[])('of a loader that is called %s', async (name) => {
    const { records } = await getData(
      appWith(LOADERS, lifetime),
      `/_m/data/${name}?_m=${encodeURIComponent(`/${name}#page`)}`,
    )
    expect(records[1]?.['lifetime']).toBe(expected[name])
  })
})

test('counts a session for the loaders that use it, also where they share the read, and for no others', async () => {
  const account = (context: LoaderContext) => context.once('account', () => sessions.open(context).then(() => 'Ada'))
  const shares = ({ context }: LoaderArgs) => account(context)
  const { app } = tinyApp({
    routes: {
      '/': { layout: page(() => null), layoutLoader: moduleOf({ loader: () => 1 }) },
      '/a': { layout: page(() => null), layoutLoader: moduleOf({ loader: shares }) },
      '/a/b': { page: page(() => null), loader: moduleOf({ loader: shares }) },
    } as never,
    dataLifetime: { session: 0 },
  })
  const { records } = await getData(app, '/_m/data/a/b')
  const lifetimes = Object.fromEntries(
    records.flatMap(({ segment, lifetime }) => (segment === undefined ? [] : [[segment, lifetime]])),
  )
  expect(lifetimes).toEqual({ '/#layout': undefined, '/a#layout': 0, '/a/b#page': 0 })
})

test('is told in documents, too', async () => {
  const app = appWith(LOADERS, { session: 0 })
  const { text } = await getData(app, '/session')
  expect(text).toContain('"lifetime":0')
})

test.for([{ seconds: -1 }, { session: Number.NaN }, { seconds: '10' as unknown as number }] satisfies DataLifetime[])(
  '%j stops the start with a line that names it',
  (lifetime) => {
    expect(() => appWith(LOADERS, lifetime)).toThrow(
      /^dataLifetime\.(?:seconds|session): .* is not a number of seconds/,
    )
  },
)
