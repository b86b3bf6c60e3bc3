/** What a guard is given, in which order guards are asked, and what caches keep of what is behind them. */
import { setImmediate as turn } from 'node:timers/promises'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { GuardArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { forbidden, notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const SECRET = 'secret-canary'
const form = 'application/x-www-form-urlencoded'

type Guard = (args: GuardArgs) => unknown

describe('the arguments of a guard', () => {
  test('are the params of its own entry, the search params and the request', async () => {
    const seen: unknown[] = []
    const guard: Guard = ({ params, search, request: { method, url }, signal }) => {
      seen.push({ params, search, method, path: new URL(url).pathname, aborted: signal.aborted })
    }
    const { app } = tinyApp({
      routes: {
        '/shops/[shop]': { guard: moduleOf({ guard }) },
        '/shops/[shop]/orders/[id]': {
          handler: moduleOf({ DELETE: () => new Response(null, { status: 204 }) }),
        },
      } as never,
    })
    await request(app).delete('/shops/a%2Fb/orders/7?x=1').expect(204)
    const path = '/shops/a%2Fb/orders/7'
    expect(seen).toEqual([{ params: { shop: 'a/b' }, search: { x: '1' }, method: 'DELETE', path, aborted: false }])
  })

  test('share what is read once with the loaders', async () => {
    let reads = 0
    const readUser = ({ context }: Pick<LoaderArgs, 'context'>) => context.once('user', () => ({ count: (reads += 1) }))
    const { app } = tinyApp({
      routes: {
        '/in': {
          guard: moduleOf({ guard: readUser }),
          page: page(({ data }: { data: { count: number } }) => <p>{`user ${data.count}`}</p>),
          loader: moduleOf({ loader: readUser }),
        },
      } as never,
    })
    expect((await request(app).get('/in').expect(200)).text).toContain('user 1')
  })
})

describe('several guards', () => {
  /** Guards of site, section and page, which note their turn; one of them refuses. */
  function threeGuards(refusing: string) {
    const asked: string[] = []
    const guard = (name: string) =>
      moduleOf({
        guard: async () => {
          asked.push(name)
          await turn()
          if (name === refusing) forbidden()
        },
      })
    const { app } = tinyApp({
      routes: {
        '/': { ...fallbacks('root'), guard: guard('site') },
        '/s': { ...fallbacks('section'), guard: guard('section') },
        '/s/p': { ...fallbacks('page'), guard: guard('page'), page: page(() => <p>inside</p>) },
      } as never,
    })
    return { app, asked }
  }

  test.for([
    ['none', 200, ['site', 'section', 'page'], 'inside'],
    ['page', 403, ['site', 'section', 'page'], 'section forbidden'],
    ['section', 403, ['site', 'section'], 'root forbidden'],
    ['site', 403, ['site'], '403'],
  ] as const)('are asked from the root inwards until one refuses: %s', async ([refusing, status, order, text]) => {
    const { app, asked } = threeGuards(refusing)
    expect((await request(app).get('/s/p').expect(status)).text).toContain(text)
    expect(asked).toEqual(order)
  })

  test('of the site are in front of the page for unknown URLs too', async () => {
    const { app, asked } = threeGuards('site')
    await request(app).get('/no/such/page').expect(403)
    await request(app).get('/_m/data/no/such/page').expect(403)
    expect(asked).toEqual(['site', 'site'])
  })
})

test('a refusal of a layout outside counts before that of a guard inside', async () => {
  const { app } = tinyApp({
    routes: {
      '/': fallbacks('root'),
      '/s': { layout: page(() => <p>s</p>), layoutLoader: moduleOf({ loader: () => notFound() }) },
      '/s/p': { guard: moduleOf({ guard: () => forbidden() }), page: page(() => <p>inside</p>) },
    } as never,
  })
  await request(app).get('/s/p').expect(404)
  await request(app).get('/_m/data/s/p').expect(404)
})

test.for([
  ['a redirect', () => redirect('/'), []],
  ['a refusal', () => forbidden(), ['outside']],
] as const)('%s starts only the loaders that its answer needs', async ([, guard, expected]) => {
  const ran: string[] = []
  const loads = (name: string) => moduleOf({ loader: () => void ran.push(name) })
  const { app } = tinyApp({
    routes: {
      '/': {
        ...fallbacks('root'),
        layout: page(({ children }: { children: unknown }) => children),
        layoutLoader: loads('outside'),
      },
      '/p': { guard: moduleOf({ guard }), page: page(() => <p>inside</p>), loader: loads('inside') },
    } as never,
  })
  await request(app).get('/p')
  expect(ran).toEqual(expected)
})

test('faults of search params inside are told to nobody whom the guard refuses', async () => {
  const search = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'secret' }] }) } }
  const { app } = tinyApp({
    routes: {
      '/': fallbacks('root'),
      '/p': {
        guard: moduleOf({ guard: () => unauthorized() }),
        page: page(() => <p>inside</p>),
        loader: moduleOf({ search, loader: () => ({}) }),
      },
      '/h': {
        guard: moduleOf({ guard: () => unauthorized() }),
        handler: moduleOf({ search, params: search, GET: () => new Response('secret') }),
      },
    } as never,
  })
  for (const path of ['/p?x=1', '/_m/data/p?x=1', '/h?x=1']) {
    expect((await request(app).get(path).expect(401)).text).not.toContain('secret')
  }
})

describe('actions', () => {
  test('that sign out have the guard asked again before fresh data is sent', async () => {
    const { app } = signOutApp()
    const called = await request(app)
      .post(`/_m/data/in?_action=${actionId(MODULE, 'signOut')}`)
      .set('Cookie', 'user=ann')
      .type(form)
      .send('a=1')
    expect(called.text).toContain('"unauthorized"')
    expect(called.text).not.toContain(SECRET)
    await request(app).get('/in').set('Cookie', 'user=ann').expect(200)
  })

  function signOutApp() {
    const signOut = action({
      handler: ({ context }) => context.headers.append('Set-Cookie', 'user=; Path=/; Max-Age=0'),
    })
    const guard: Guard = ({ context }) => context.cookie('user') ?? unauthorized()
    const tiny = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/in': {
          guard: moduleOf({ guard }),
          page: page(() => <p>in</p>),
          loader: moduleOf({ loader: () => ({ text: SECRET }) }),
        },
      } as never,
      actions: { [MODULE]: { signOut } },
    })
    return tiny
  }
})

describe('caches', () => {
  /** Everything at /in wants to be shared. */
  function publicApp(guard: Guard) {
    const share = ({ context }: LoaderArgs) => {
      context.headers.set('Cache-Control', 'public, max-age=60')
      return { text: SECRET }
    }
    const { app } = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/in': { guard: moduleOf({ guard }), page: page(() => <p>in</p>), loader: moduleOf({ loader: share }) },
        '/in/api': {
          handler: moduleOf({ GET: () => new Response('x', { headers: { 'Cache-Control': 's-maxage=60' } }) }),
        },
        '/in/ruled': { page: page(() => <p>ruled</p>) },
      } as never,
      rules: { headers: [{ source: '/in/ruled', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }] },
    })
    return app
  }

  test.for([
    ['/in', 'private, no-cache'],
    ['/in/ruled', 'private, no-cache'],
    ['/in/api', 'private, no-cache'],
    ['/_m/data/in', 'private, no-store'],
  ] as const)('share no answer behind a guard: %s', async ([path, caching]) => {
    const app = publicApp(() => undefined)
    const answer = await request(app).get(path).expect(200)
    expect(answer.headers['cache-control']).toBe(caching)
    const { etag } = answer.headers
    if (etag === undefined) return
    const same = await request(app).get(path).set('If-None-Match', etag).expect(304)
    expect(same.headers['cache-control']).toBe(caching)
  })

  test('of browsers keep data behind a guard as long as what its guard has looked at', async () => {
    const { app } = tinyApp({
      routes: {
        '/in': {
          guard: moduleOf({ guard: ({ search }: GuardArgs) => (search['key'] === 'right' ? undefined : forbidden()) }),
          page: page(() => <p>in</p>),
          loader: moduleOf({ loader: () => ({ a: 1 }) }),
        },
      } as never,
    })
    const { text } = await request(app).get('/_m/data/in?key=right&other=1').expect(200)
    expect(text).toContain('"uses":["key"]')
  })
})
