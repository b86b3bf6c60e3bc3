import { describe, expect, test, vi } from 'vitest'
import { RouteLoadError } from '../../../src/client/react/router-errors.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { flush, head, pageOf, redirectTo, segment } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

describe('a URL that no route answers', () => {
  const module = () => Promise.resolve({})
  const table = createRouteTable({ '/': { layout: module, layoutLoader: module, page: module, notFound: module } })
  const nowhere = [head(null), segment('/#layout', { visitor: 'ann' }), { outcome: { kind: 'notFound', at: 0 } }]

  test('shows its page in the layout of the whole site, with the data that came along', async () => {
    const world = createWorld({ table })
    await world.click('/nope')
    expect(world.requests).toMatchObject([{ href: '/nope', wants: undefined }])
    await world.request(0).open(404)
    await world.request(0).done(...nowhere)
    expect(world.rendered.at(-1)?.view).toMatchObject({
      data: { '/#layout': { visitor: 'ann' } },
      outcome: { kind: 'notFound', at: 0 },
    })
    expect(world.requests).toHaveLength(1)
  })
})

describe('what is asked for at a click', () => {
  test('code and styles of all new segments, and their data, before anything of them is here', async () => {
    const world = createWorld()
    const load = vi.spyOn(world.code, 'load')
    await world.click('/lab/one')
    expect(load.mock.calls.map(([{ chain }]) => chain.map(({ key }) => key))).toEqual([['/', '/lab', '/lab/one']])
    expect(world.requests.map(({ wants }) => wants)).toEqual([['/lab#layout', '/lab/one#page']])
    await world.request(0).done(head('/lab/one'), segment('/lab#layout', 1), segment('/lab/one#page', 2))
    expect(load).toHaveBeenCalledTimes(1)
    expect(world.rendered).toHaveLength(1)
  })

  test('names the build, with the priority of who asks, and follows no redirect by itself', async () => {
    const world = createWorld()
    world.prefetcher.add('/a', 'viewport')
    await world.click('/b')
    expect(world.requests.map(({ init }) => ({ ...init, signal: undefined }))).toEqual([
      {
        headers: { 'X-Millrace-Build': 'b1', Purpose: 'prefetch', 'Sec-Purpose': 'prefetch' },
        priority: 'low',
        redirect: 'manual',
        cache: 'default',
      },
      { headers: { 'X-Millrace-Build': 'b1' }, priority: 'high', redirect: 'manual', cache: 'default' },
    ])
  })
})

test.for([
  ['/b', '/b#part'],
  ['/b#own', '/b#own'],
] as const)('click A#part, it leads to %s: %s is shown', async ([to, shown]) => {
  const world = createWorld()
  await world.click('/a#part')
  await world.request(0).done(redirectTo(to))
  await world.answer(1, ...pageOf('/b'))
  expect([world.router.screen.href, world.entries]).toEqual([shown, ['/', shown]])
})

describe('an answer that breaks off', () => {
  test.for(['fail', 'cutOff', 'done'] as const)(
    'behind its head (%s) is asked for again, and then shown',
    async (end) => {
      const world = createWorld()
      await world.click('/a')
      await world.request(0).send(head('/a'))
      await world.request(0)[end]()
      await pass(300)
      await world.answer(1, ...pageOf('/a'))
      expect(world.router.screen.view.data).toEqual({ '/a#page': '/a' })
    },
  )

  const ends = { 'cut off': [], 'done without its segments': [head('/lab/one'), { done: true }] }
  test.for(Object.entries(ends))(
    'for good (%s), in a layout with data: the error page stands outside',
    async ([, sent]) => {
      const world = createWorld()
      await world.click('/lab/one')
      for (const delay of [300, 600, 1200, 0]) {
        await world.requests.at(-1)?.send(...sent)
        await world.requests.at(-1)?.cutOff()
        await pass(delay)
      }
      expect(world.requests).toHaveLength(4)
      await world.commit()
      expect(world.router.screen.view.outcome).toEqual({
        kind: 'error',
        at: 0,
        origin: 'client',
        reason: 'offline',
        status: 0,
      })
    },
  )

  test('for good, where the layout is here already: the error page stands in it', async () => {
    const world = createWorld()
    await world.click('/lab/two')
    await world.answer(0, head('/lab/two'), segment('/lab#layout', 1), segment('/lab/two#page', 2))
    await world.click('/lab/one')
    for (const delay of [300, 600, 1200, 0]) {
      await world.requests.at(-1)?.fail()
      await pass(delay)
    }
    await world.commit()
    expect(world.router.screen.view).toMatchObject({ outcome: { kind: 'error', at: 1 }, data: { '/lab#layout': 1 } })
  })
})

test('an answer that names another page than was thought, and lacks its data: that is asked for at once', async () => {
  const world = createWorld()
  await world.click('/lab/two')
  await world.answer(0, head('/lab/two'), segment('/lab#layout', 1), segment('/lab/two#page', 2))
  await world.click('/lab/one')
  expect(world.requests[1]?.wants).toEqual(['/lab/one#page'])
  await world.request(1).done(head('/a'))
  expect(world.requests[2]).toMatchObject({ href: '/lab/one', wants: ['/a#page'] })
  await world.answer(2, head('/a'), segment('/a#page', 'rewritten'))
  expect(world.router.screen.view.data).toEqual({ '/a#page': 'rewritten' })
})

test('an answer is not given up between its last record and its end: its connection stays for the next', async () => {
  const world = createWorld()
  await world.click('/a')
  await world.request(0).send(...pageOf('/a'), { done: true })
  await world.commit()
  await world.click('/b')
  await world.request(1).send(...pageOf('/b'))
  await world.commit()
  await world.click('/c')
  await world.answer(2, ...pageOf('/c'))
  expect([0, 1].map((at) => world.request(at).aborted)).toEqual([false, true])
})

describe('an answer that names what this table does not have is a document load, and shows no other page', () => {
  test.for([
    ['a route', [head('/elsewhere')]],
    ['no route, and no fallback either', [head(null)]],
    ['a boundary further in than the page', [head('/a'), { outcome: { kind: 'error', at: 9 } }]],
    ['a fallback that nobody has written', [head('/a'), { outcome: { kind: 'forbidden', at: 0 } }]],
  ] as const)('%s', async ([, records]) => {
    vi.spyOn(console, 'error').mockReturnValue()
    const world = createWorld()
    await world.click('/a')
    await world.request(0).done(...records)
    expect(world.rendered).toEqual([])
    expect(world.left).toEqual(['push /a'])
  })
})

test('511 is a portal that wants to be seen: the document, at once', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  const world = createWorld()
  await world.click('/a')
  await world.request(0).open(511, { 'Content-Type': 'text/html' })
  await flush()
  expect(world.left).toEqual(['push /a'])
  expect(world.requests).toHaveLength(1)
})

test('the connection is lost for good, and comes back: the page that was asked for is shown without a click', async () => {
  const world = createWorld()
  await world.click('/a')
  world.router.setOnline(false)
  for (const delay of [300, 600, 1200, 0]) {
    await world.requests.at(-1)?.fail()
    await pass(delay)
  }
  await world.commit()
  expect(world.router.screen.view.outcome?.kind).toBe('error')
  world.router.setOnline(true)
  await flush()
  await world.requests.at(-1)?.done(...pageOf('/a'))
  await world.commit()
  expect(world.router.screen.view).toMatchObject({ data: { '/a#page': '/a' } })
  expect(world.entries).toEqual(['/', '/a'])
})

describe('without a network', () => {
  const script = () => new RouteLoadError('script', '/_m/assets/page.js')

  function withoutPages(world: ReturnType<typeof createWorld>): void {
    vi.spyOn(world.code, 'load').mockImplementation(({ outcome }) =>
      outcome === undefined ? Promise.reject(script()) : Promise.resolve(),
    )
  }

  test('a page whose script does not come is replaced by the error page, and comes by itself with the network', async () => {
    const world = createWorld()
    withoutPages(world)
    world.setOnline(false)
    await world.click('/a')
    await world.request(0).fail()
    expect(world.left).toEqual([])
    expect(world.rendered.at(-1)?.view.outcome).toMatchObject({ kind: 'error', origin: 'client' })
    await world.commit()
    vi.mocked(world.code.load).mockResolvedValue()
    world.setOnline(true)
    await flush()
    await world.request(1).done(...pageOf('/a'))
    expect(world.rendered.at(-1)?.view).toMatchObject({ data: { '/a#page': '/a' } })
    expect(world.rendered.at(-1)?.view.outcome).toBeUndefined()
    expect(world.left).toEqual([])
  })

  test('so is one whose data are known already', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'intent')
    await world.request(0).done(...pageOf('/a'))
    withoutPages(world)
    world.setOnline(false)
    await world.click('/a')
    expect(world.left).toEqual([])
    expect(world.rendered.at(-1)?.view.outcome).toMatchObject({ kind: 'error', origin: 'client' })
  })

  test('the browser shows what it can where the code of the error page is missing, too', async () => {
    const world = createWorld()
    vi.spyOn(world.code, 'load').mockRejectedValue(script())
    world.setOnline(false)
    await world.click('/a')
    expect(world.rendered).toEqual([])
    expect(world.left).toEqual(['push /a'])
  })

  test('with a network, a script that does not come is a document load', async () => {
    const world = createWorld()
    withoutPages(world)
    await world.click('/a')
    await world.request(0).done(...pageOf('/a'))
    expect(world.rendered).toEqual([])
    expect(world.left).toEqual(['push /a'])
  })

  test('and where the data does not come either, the server is gone: the error page, as without a network', async () => {
    const world = createWorld()
    withoutPages(world)
    await world.click('/a')
    for (const delay of [300, 600, 1200, 0]) {
      await world.requests.at(-1)?.fail()
      await pass(delay)
    }
    expect(world.rendered.at(-1)?.view.outcome).toMatchObject({ kind: 'error', origin: 'client', reason: 'offline' })
    expect(world.left).toEqual([])
  })
})
