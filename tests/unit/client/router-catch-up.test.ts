import { describe, expect, test } from 'vitest'
import type { RouteRequest } from '../../../src/client/core/data/route-request.ts'
import { flush, head, pageOf, segment } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

describe('catching up with what is known', () => {
  const one = [head('/lab/one'), segment('/lab#layout', 'old'), segment('/lab/one#page', 'one')]

  test('an action has brought newer data of a layout from the page before: it is shown without asking', async () => {
    const world = createWorld()
    await world.click('/lab/one')
    await world.answer(0, ...one)
    const { known } = world
    known.keepSegment('/lab#layout', '/lab/two', known.keyOf('/lab#layout', '/lab/two', {}), {
      values: { data: 'new' },
      size: 1,
    })
    world.router.catchUp()
    await flush()
    expect(world.rendered.at(-1)?.view.data).toMatchObject({ '/lab#layout': 'new', '/lab/one#page': 'one' })
    expect(world.requests).toHaveLength(1)
    await world.commit()
    world.router.catchUp()
    await flush()
    expect(world.rendered).toHaveLength(2)
  })

  test('an action has dropped what is on the screen: it is asked for anew', async () => {
    const world = createWorld()
    await world.click('/lab/one')
    await world.answer(0, ...one)
    world.store.revalidate(['/lab/one'])
    world.router.catchUp()
    await flush()
    expect(world.request(1)).toMatchObject({ href: '/lab/one', wants: ['/lab/one#page'] })
  })
})

describe('going where an action leads', () => {
  /** What the answer to a call has brought of a page: data that is not to be kept, such as a message that is shown once. */
  const brought = (more: Partial<RouteRequest> = {}): RouteRequest => ({
    href: '/a',
    wants: undefined,
    prefetch: false,
    force: false,
    startedAt: Date.now(),
    ids: [],
    params: {},
    current: true,
    status: 200,
    retryAfterMs: undefined,
    size: 0,
    describe: () => undefined,
    drop: () => undefined,
    head: { route: '/a', params: {}, scope: 'path' },
    segments: new Map([['/a#page', { segment: '/a#page', values: { data: 'You are signed in.' }, lifetime: 0 }]]),
    over: true,
    join: () => undefined,
    ...more,
  })

  test('shows the data that came along, and asks for nothing', async () => {
    const world = createWorld()
    world.store.bring(brought(), () => world.router.navigate('/a#top'))
    await flush()
    await world.commit()
    expect(world.router.screen).toMatchObject({ href: '/a#top', view: { data: { '/a#page': 'You are signed in.' } } })
    expect(world.requests).toEqual([])
    // Of the next visit it is not.
    await world.visit('/b')
    await world.click('/a')
    expect(world.requests.map(({ href }) => href)).toEqual(['/b', '/a'])
  })

  test('shows the refusal that came along', async () => {
    const world = createWorld()
    const refused = brought({ outcome: { kind: 'notFound', at: 0 }, segments: new Map(), status: 404 })
    world.store.bring(refused, () => world.router.navigate('/a'))
    await flush()
    expect(world.rendered.at(-1)?.view.outcome).toEqual({ kind: 'notFound', at: 0 })
    expect(world.requests).toEqual([])
  })

  test('a target that is no page takes nothing with it: the next visit asks', async () => {
    const world = createWorld()
    expect(() => world.store.bring(brought(), () => world.router.navigate('mailto:a@example.org'))).toThrow(TypeError)
    expect(world.store.requests.size).toBe(0)
  })
})

describe('what is dropped of the page on screen', () => {
  const answer = (at: number, more: object = {}) => [head('/a', { at }), segment('/a#page', `as of ${at}`, more)]

  test.for([0, 60])('is known by its tags, whatever its lifetime: %s', async (lifetime) => {
    const world = createWorld()
    await world.click('/a')
    await world.answer(0, ...answer(1, { lifetime, tags: ['board'] }))
    world.router.revalidate('other')
    await flush()
    expect(world.requests).toHaveLength(1)
    world.router.revalidate('board')
    await flush()
    expect(world.requests.map(({ href }) => href)).toEqual(['/a', '/a'])
  })

  test('is known by its tags when the cache has forgotten it', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.answer(0, ...answer(1, { tags: ['board'] }))
    await pass(400_000)
    world.router.prefetch('/b')
    await flush()
    await world.request(1).done(head('/b'), segment('/b#page', 'b'))
    expect(world.known.cache.entries.has('/a#page {}')).toBe(false)
    expect([world.router.drop(['board'], 2), world.router.drop(['other'], 2)]).toEqual([true, false])
  })

  test('is kept where it is newer than the drop', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.answer(0, ...answer(5, { tags: ['board'] }))
    expect([world.router.drop(['board'], 5), world.router.drop(['/a'], 5)]).toEqual([false, false])
    await world.router.catchUp()
    await world.visit('/b')
    await world.click('/a')
    expect(world.requests.map(({ href }) => href)).toEqual(['/a', '/b'])
    expect([world.router.drop(['board'], 6), world.router.drop(['/b'], 6)]).toEqual([false, true])
  })

  test('may have been any of a page instead of which a fallback is shown', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.answer(0, head('/a', { at: 5 }), { outcome: { kind: 'notFound', at: 0 } })
    expect([world.router.drop(['board'], 5), world.router.drop(['board'], 6)]).toEqual([false, true])
    const caught = world.router.catchUp()
    await flush()
    await world.request(1).done(...answer(6))
    await caught
    await world.commit()
    expect(world.outcome).toBeUndefined()
    expect(world.router.drop(['board'], 7)).toBe(false)
  })
})

test('what a call brings while another page is about to be shown is on that page, too', async () => {
  const world = createWorld()
  await world.click('/lab/one')
  await world.answer(0, head('/lab/one'), segment('/lab#layout', 'old'), segment('/lab/one#page', 'one'))
  await world.commit()
  await world.click('/')
  await world.commit()
  await world.click('/lab/one')
  const { known } = world
  known.keepSegment('/lab/one#page', '/lab/one', known.keyOf('/lab/one#page', '/lab/one', {}), {
    values: { data: 'two' },
    tags: [],
    content: 'two',
    size: 3,
  })
  await world.router.catchUp()
  await world.commit()
  await flush()
  await world.commit()
  expect(world.router.screen.view.data).toMatchObject({ '/lab/one#page': 'two' })
  expect(world.requests.map(({ href }) => href)).toEqual(['/lab/one'])
})

describe('what can be had only in vain', () => {
  const one = [head('/lab/one'), segment('/lab#layout', 'old'), segment('/lab/one#page', 'one')]
  const failed = [head('/lab/one'), { outcome: { kind: 'error', at: 0, digest: 'd' } }]

  async function caughtUp(isFormer: boolean) {
    const world = createWorld()
    await world.click('/lab/one')
    await world.answer(0, ...one)
    await world.commit()
    world.router.drop(['/*'])
    if (isFormer) world.window.document.dispatchEvent(new Event('millrace:former'))
    void world.router.catchUp()
    await flush()
    for (let at = 1; at < world.requests.length; at += 1) {
      await world.request(at).done(...failed)
      await pass(60_000)
    }
    await world.commit()
    return world
  }

  test('leaves the screen as it is', async () => {
    const world = await caughtUp(false)
    expect([world.outcome, world.router.screen.view.data]).toMatchObject([undefined, { '/lab/one#page': 'one' }])
  })

  test('leaves nothing on the screen of a former session: the browser loads what is there', async () => {
    const world = await caughtUp(true)
    expect(world.left).toContain('refresh /lab/one')
  })

  test('lets a former user’s page be left without a question, for documents only', async () => {
    const world = createWorld()
    const asks = (): boolean => world.listeners.unasked !== true
    await world.click('/lab/one')
    await world.answer(0, ...one)
    await world.commit()
    for (const isFormer of [false, true]) {
      world.router.drop(['/*'])
      if (isFormer) world.window.document.dispatchEvent(new Event('millrace:former'))
      void world.router.catchUp()
      await flush()
      expect(asks()).toBe(!isFormer)
      expect(world.window.document.body.inert).toBe(isFormer)
    }
    // Nobody can have clicked: it is the former user's code.
    await world.click('/lab/two')
    expect([world.left, asks()]).toEqual([[], false])
    world.window.document.dispatchEvent(new CustomEvent('millrace:back', { detail: true }))
    expect([asks(), world.window.document.body.inert]).toEqual([false, true])
    world.window.document.dispatchEvent(new CustomEvent('millrace:back', { detail: false }))
    expect([asks(), world.window.document.body.inert]).toEqual([true, false])
  })

  test('of a former user is waited for without a network: a document would not come either', async () => {
    const world = createWorld()
    await world.visit('/a')
    world.router.drop(['/*'])
    world.window.document.dispatchEvent(new Event('millrace:former'))
    void world.router.catchUp()
    await flush()
    for (let at = 1, passed = 0; passed < 18_000; passed += 1_000) {
      if (at < world.requests.length) await world.request(at++).fail()
      await pass(1_000)
    }
    expect([world.requests.length > 1, world.left]).toEqual([true, []])
    await pass(2_000)
    expect(world.left).toEqual(['refresh /a'])
  })

  test('of a former user is not waited for without end: the document is loaded', async () => {
    const world = createWorld()
    await world.visit('/a')
    world.window.document.dispatchEvent(new Event('millrace:former'))
    await pass(19_999)
    expect(world.left).toEqual([])
    await pass(1)
    expect(world.left).toEqual(['refresh /a'])
  })

  test('an answer that was on its way when a user has left is not shown: the browser loads the document', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.click('/b')
    const [first, ...rest] = pageOf('/b', 'former')
    await world.request(1).send(first ?? {})
    world.window.document.dispatchEvent(new Event('millrace:former'))
    await world.answer(1, ...rest)
    expect([world.left, world.router.screen.href]).toEqual([['push /b'], '/a'])
    // Nor is what is on its way then cancelled for the page on screen.
    world.router.drop(['/*'])
    void world.router.catchUp()
    await world.answer(2, ...pageOf('/a', 'next'))
    expect(world.left).toEqual(['push /b'])
  })

  test('is not loaded as a document without end where each answer begins another session', async () => {
    const world = createWorld()
    await world.visit('/a')
    Object.assign(world.loaded, { type: 'reload', at: Date.now() })
    world.window.document.dispatchEvent(new CustomEvent('millrace:emptied', { detail: true }))
    await pass(2_999)
    expect(world.left).toEqual([])
    await pass(1)
    expect(world.left).toEqual(['refresh /a'])
  })

  test('is not loaded in place of the document that is on its way', async () => {
    const world = createWorld()
    await world.visit('/a')
    world.window.document.dispatchEvent(new Event('millrace:former'))
    world.router.leave('/bye', 'push')
    await pass(10_000)
    world.router.refresh()
    await flush()
    expect(world.left).toEqual(['push /bye'])
    // It was a download.
    await pass(20_000)
    expect(world.left).toEqual(['push /bye', 'refresh /a'])
  })
})
