import { describe, expect, test } from 'vitest'
import type { GuardArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { forbidden } from '../../src/shared/control-flow.ts'
import { getData, wanting } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const routes = {
  '/': { ...fallbacks('root'), page: hello },
  '/target/[id]': {
    page: hello,
    loader: moduleOf({ loader: ({ params, search }: LoaderArgs) => ({ ...params, from: search['from'] ?? null }) }),
  },
  '/feed': { handler: moduleOf({ GET: () => new Response('secret-canary') }) },
}

describe('rules and the data of a page', () => {
  const { app } = tinyApp({
    routes,
    rules: {
      redirects: [
        { source: '/old/:id', destination: '/target/:id', permanent: true },
        { source: '/out', destination: 'https://far.test/', permanent: false },
        { source: '/many/:path*', destination: '/target/:path', permanent: false },
      ],
      rewrites: [
        { source: '/alias/:id', destination: '/target/:id?from=rule' },
        { source: '/elsewhere', destination: 'http://127.0.0.1:9/x' },
        { source: '/feed-alias', destination: '/feed' },
        { source: '/bad/:host', destination: 'http://:host.test/x' },
      ],
      headers: [{ source: '/:path*', headers: [{ key: 'X-Ruled', value: 'yes' }] }],
    },
  })

  test('a redirect rule is a record, for what the document redirects too', async () => {
    expect((await getData(app, '/old/7')).status).toBe(308)
    const { status, records } = await getData(app, '/_m/data/old/7?x=1')
    expect([status, records.slice(1)]).toEqual([200, [{ done: true }]])
    expect(records[0]).toMatchObject({ redirect: { to: '/target/7?x=1' } })
    expect((await getData(app, '/_m/data/out')).records[0]).toMatchObject({
      redirect: { to: 'https://far.test/', external: true },
    })
  })

  test('the runtime’s parameters are not carried along by a redirect', async () => {
    const { records } = await getData(app, `/_m/data/old/7?x=1&${wanting('/#page')}`)
    expect(records[0]).toMatchObject({ redirect: { to: '/target/7?x=1' } })
  })

  test('a rewrite to a page gives that page’s data, with the params and query of the rewrite', async () => {
    const { records } = await getData(app, '/_m/data/alias/7')
    expect(records[0]).toMatchObject({ route: '/target/[id]', params: { id: '7' } })
    expect(records[1]).toMatchObject({ data: { id: '7', from: 'rule' } })
  })

  test('a client that guessed the route before a rewrite gets all of the true one', async () => {
    const { records } = await getData(app, `/_m/data/alias/7?${wanting('/#page')}`)
    expect(records[1]).toMatchObject({ segment: '/target/[id]#page' })
  })

  test.for(['/elsewhere', '/feed', '/feed-alias'])('%s is no page, so it is left to the document', async (path) => {
    const { status, records, text } = await getData(app, `/_m/data${path}`)
    expect([status, records]).toEqual([200, [{ v: 1, build: 'development', document: true }, { done: true }]])
    expect(text).not.toContain('secret-canary')
  })

  test.for([
    ['/bad/a%20b', 400],
    ['/many/a/b', 500],
  ] as const)('a rule that cannot be filled in for %s fails as for the document', async ([path, status]) => {
    expect((await getData(app, path)).status).toBe(status)
    const answer = await getData(app, `/_m/data${path}`)
    expect([answer.status, answer.records[0]]).toEqual([status, { v: 1, build: 'development', document: true }])
  })

  test('header rules mean documents', async () => {
    expect((await getData(app, '/target/1')).header('x-ruled')).toBe('yes')
    expect((await getData(app, '/_m/data/target/1')).header('x-ruled')).toBeUndefined()
  })
})

describe('whether another query of a path is answered by the same route', () => {
  const scope = async (rules: NonNullable<Parameters<typeof tinyApp>[0]['rules']>) => {
    const { app } = tinyApp({ routes, rules })
    const { records } = await getData(app, '/_m/data/target/1')
    const document = await getData(app, '/target/1')
    return [records[0]?.['scope'], document.text.includes('"scope":"url"') ? 'url' : 'path']
  }
  const query = { type: 'query', key: 'x' } as const
  const header = { type: 'header', key: 'x' } as const
  const to = { source: '/from', destination: '/target/2' }

  test.for([
    ['rewrite with has', { rewrites: [{ ...to, has: [query] }] }, 'url'],
    ['rewrite with missing, in a phase', { rewrites: { fallback: [{ ...to, missing: [query] }] } }, 'url'],
    ['redirect with has', { redirects: [{ ...to, permanent: false, has: [header, query] }] }, 'url'],
    ['other conditions', { rewrites: [{ ...to, has: [header] }] }, 'path'],
    ['header rules', { headers: [{ source: '/x', headers: [{ key: 'a', value: 'b' }], has: [query] }] }, 'path'],
    ['no rules', {}, 'path'],
  ] as const)('%s, in data and document alike', async ([, rules, expected]) => {
    expect(await scope(rules as never)).toEqual([expected, expected])
  })

  test.for<readonly [name: string, guard: (args: GuardArgs) => unknown, expected: string]>([
    ['reads a search param', ({ search }) => void search['key'], 'url'],
    ['reads a search param and refuses', ({ search }) => (search['key'] === 'x' ? undefined : forbidden()), 'url'],
    ['reads the request', ({ request }) => void request.url, 'url'],
    ['reads a cookie', ({ context }) => void context.cookie('a'), 'path'],
  ])('of a page behind a guard that %s, in data and document alike', async ([, guard, expected]) => {
    const { app } = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/in': { guard: moduleOf({ guard }), page: page(() => <h1>In</h1>) },
        '/out': { page: page(() => <h1>Out</h1>) },
      },
    })
    const scopeOf = async (path: string) => {
      const { records } = await getData(app, `/_m/data${path}`)
      const document = await getData(app, path)
      return [records[0]?.['scope'], document.text.includes('"scope":"url"') ? 'url' : 'path']
    }
    expect(await scopeOf('/in')).toEqual([expected, expected])
    expect(await scopeOf('/out')).toEqual(['path', 'path'])
  })
})
