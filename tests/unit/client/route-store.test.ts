import { describe, expect, test } from 'vitest'
import { deferredSegment, flush, head, lateValue, pageOf, segment } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

const LAYOUT = '/lab#layout'

describe('prefetch A, click A: one request', () => {
  test('while the prefetch is queued: the click asks, and the prefetch never does', async () => {
    const world = createWorld()
    // Three segments fill the slots for data; /c must wait.
    for (const href of ['/a', '/b', '/lab', '/lab/one', '/c']) await world.prefetch(href, 'viewport')
    expect(world.requests.map(({ href }) => href)).not.toContain('/c')
    await world.click('/c')
    expect(world.requests.filter(({ href }) => href === '/c')).toMatchObject([{ prefetch: false }])
    await world.request(0).done(...pageOf('/a'))
    await world.request(1).done(...pageOf('/b'))
    const asked = world.requests.findIndex(({ href }) => href === '/c')
    await world.answer(asked, ...pageOf('/c'))
    expect(world.router.screen.href).toBe('/c')
    expect(world.requests.filter(({ href }) => href === '/c')).toHaveLength(1)
  })

  test('after the request was sent: the click waits for it, also once the link has left the view', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    expect(world.requests).toMatchObject([{ href: '/a', prefetch: true }])
    await world.click('/a')
    world.prefetcher.cancel(['/a'])
    await flush()
    expect(world.request(0).aborted).toBe(false)
    await world.answer(0, ...pageOf('/a'))
    expect(world.router.screen.view.data).toEqual({ '/a#page': '/a' })
    expect(world.requests).toHaveLength(1)
  })

  test('after the head: the click waits for the rest, also once the link has left the view', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.request(0).send(head('/a'))
    await world.click('/a')
    world.prefetcher.cancel(['/a'])
    await flush()
    expect(world.request(0).aborted).toBe(false)
    expect(world.rendered).toEqual([])
    await world.answer(0, segment('/a#page', 'here'))
    expect(world.router.screen.view.data).toEqual({ '/a#page': 'here' })
    expect(world.requests).toHaveLength(1)
  })

  test('on the first visit, while a deferred value is pending: shown at once', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.request(0).send(head('/a'), ...deferredSegment('/a#page'))
    await world.click('/a')
    expect(world.requests).toHaveLength(1)
    expect(world.rendered.at(-1)?.href).toBe('/a')
  })

  test('while a deferred value is pending: shown at once; the prefetch ends with the commit, the value still comes', async () => {
    const world = createWorld()
    // What the page uses is known from an earlier visit, whose data has expired.
    await world.visit('/a', 'old')
    await world.visit('/b')
    await pass(360_000)
    await world.prefetch('/a', 'intent')
    await world.request(2).send(head('/a'), ...deferredSegment('/a#page'))
    await world.click('/a')
    await world.commit()
    expect(world.router.screen.href).toBe('/a')
    expect(world.prefetcher.state.jobs.size).toBe(0)
    expect(world.request(2).aborted).toBe(false)
    await world.request(2).done(...lateValue('late'))
    const data = world.router.screen.view.data['/a#page'] as { readonly late: Promise<string> }
    await expect(data.late).resolves.toBe('late')
    expect(world.requests).toHaveLength(3)
  })

  test('after its end: nothing is asked for', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.request(0).done(...pageOf('/a'))
    await world.click('/a')
    expect(world.rendered.at(-1)?.view.data).toEqual({ '/a#page': '/a' })
    expect(world.requests).toHaveLength(1)
  })

  test('after it has failed: the click asks at once, though another prefetch would not', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.request(0).fail()
    await world.prefetch('/a', 'intent')
    expect(world.requests).toHaveLength(1)
    await world.click('/a')
    expect(world.requests[1]).toMatchObject({ href: '/a', prefetch: false })
  })

  test('it fails while the click waits for it: the click asks itself', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.click('/a')
    await world.request(0).fail()
    await pass(300)
    expect(world.requests[1]).toMatchObject({ href: '/a', prefetch: false })
    await world.request(1).done(...pageOf('/a'))
    expect(world.rendered.at(-1)?.view.data).toEqual({ '/a#page': '/a' })
  })

  test('the click is overtaken by a click on B: the prefetch of A goes on', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.click('/a')
    await world.click('/b')
    expect(world.request(0).aborted).toBe(false)
    await world.request(0).done(...pageOf('/a'))
    await world.answer(1, ...pageOf('/b'))
    await world.click('/a')
    expect(world.requests).toHaveLength(2)
    expect(world.rendered.at(-1)?.href).toBe('/a')
  })

  // The first answer tells what the page uses, which changes the key of the second request's data too; that request stays
  // filed under the key of before until its own segment is here.
  test('on the first visit, with two queries: the answer of one says what both use, click the other', async () => {
    const world = createWorld()
    world.prefetcher.add('/a?n=1', 'viewport')
    await world.prefetch('/a?n=2', 'viewport')
    await world.request(0).done(head('/a'), segment('/a#page', 1, { uses: ['n'] }))
    await world.click('/a?n=2')
    expect(world.requests.map(({ href }) => href)).toEqual(['/a?n=1', '/a?n=2'])
  })
})

describe('prefetch A, no click', () => {
  test('its link leaves the view: the request is aborted', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    world.prefetcher.cancel(['/a'])
    await flush()
    expect(world.request(0).aborted).toBe(true)
  })

  test('503 with Retry-After 5: the other links wait that long too', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    await world.request(0).open(503, { 'Retry-After': '5', 'Content-Type': 'text/plain' })
    world.prefetcher.add('/b', 'viewport')
    await pass(4999)
    expect(world.requests).toHaveLength(1)
    await pass(1)
    expect(world.requests[1]).toMatchObject({ href: '/b', prefetch: true })
  })
})

describe('two links that share a layout', () => {
  test('prefetch one, prefetch two: its data is asked for once, and both pages have it', async () => {
    const world = createWorld()
    await world.prefetch('/lab/one', 'viewport')
    await world.prefetch('/lab/two', 'intent')
    expect(world.requests.map(({ wants }) => wants)).toEqual([[LAYOUT, '/lab/one#page'], ['/lab/two#page']])
    await world.request(1).done(head('/lab/two'), segment('/lab/two#page', 2))
    await world.request(0).done(head('/lab/one'), segment(LAYOUT, 'shared'), segment('/lab/one#page', 1))
    await world.click('/lab/two')
    await world.commit()
    expect(world.router.screen.view.data).toEqual({ [LAYOUT]: 'shared', '/lab/two#page': 2 })
    await world.click('/lab/one')
    expect(world.rendered.at(-1)?.view.data).toEqual({ [LAYOUT]: 'shared', '/lab/one#page': 1 })
    expect(world.requests).toHaveLength(2)
  })

  test('click one, click two: the first request lives on for the layout, which is asked for once', async () => {
    const world = createWorld()
    await world.click('/lab/one')
    await world.click('/lab/two')
    expect(world.request(0).aborted).toBe(false)
    expect(world.request(1).wants).toEqual(['/lab/two#page'])
    await world.request(0).done(head('/lab/one'), segment(LAYOUT, 'shared'), segment('/lab/one#page', 1))
    await world.answer(1, head('/lab/two'), segment('/lab/two#page', 2))
    expect(world.rendered.map(({ href }) => href)).toEqual(['/lab/two'])
    expect(world.router.screen.view.data).toEqual({ [LAYOUT]: 'shared', '/lab/two#page': 2 })
  })

  test('prefetch one, click two, the prefetch ends before the layout is here: two asks for the layout itself', async () => {
    const world = createWorld()
    await world.prefetch('/lab/one', 'viewport')
    await world.click('/lab/two')
    await world.request(1).done(head('/lab/two'), segment('/lab/two#page', 2))
    expect(world.rendered).toEqual([])
    await world.request(0).fail()
    expect(world.requests[2]).toMatchObject({ href: '/lab/two', wants: [LAYOUT], prefetch: false })
    await world.answer(2, head('/lab/two'), segment(LAYOUT, 'own'))
    expect(world.router.screen.view.data).toEqual({ [LAYOUT]: 'own', '/lab/two#page': 2 })
    expect(world.events).toEqual(['start /lab/two', 'commit /lab/two'])
  })

  test('prefetch one, click two, the link to one leaves the view: two still gets the layout from that request', async () => {
    const world = createWorld()
    await world.prefetch('/lab/one', 'viewport')
    await world.click('/lab/two')
    world.prefetcher.cancel(['/lab/one'])
    await flush()
    expect(world.request(0).aborted).toBe(false)
    await world.request(0).done(head('/lab/one'), segment(LAYOUT, 'shared'), segment('/lab/one#page', 1))
    await world.answer(1, head('/lab/two'), segment('/lab/two#page', 2))
    expect(world.router.screen.view.data).toEqual({ [LAYOUT]: 'shared', '/lab/two#page': 2 })
    expect(world.requests).toHaveLength(2)
  })

  // A request that others have sent is waited for until all of its segments are here, not only those that are needed.
  test('prefetch one, click two, layout and two are here, but not one: two is shown', async () => {
    const world = createWorld()
    await world.prefetch('/lab/one', 'viewport')
    await world.click('/lab/two')
    await world.request(0).send(head('/lab/one'), segment(LAYOUT, 'shared'))
    await world.request(1).done(head('/lab/two'), segment('/lab/two#page', 2))
    expect(world.rendered.map(({ href }) => href)).toEqual(['/lab/two'])
  })

  test('one is on the screen, click two: the layout is not asked for again, and its data is the same object', async () => {
    const world = createWorld()
    await world.click('/lab/one')
    await world.answer(0, head('/lab/one'), segment(LAYOUT, { shared: true }), segment('/lab/one#page', 1))
    const shown = world.router.screen.view.data[LAYOUT]
    await world.click('/lab/two')
    expect(world.request(1).wants).toEqual(['/lab/two#page'])
    await world.request(1).done(head('/lab/two'), segment('/lab/two#page', 2))
    expect(world.rendered.at(-1)?.view.data[LAYOUT]).toBe(shown)
  })
})

describe('revalidate drops what is on its way', () => {
  test('prefetch A, revalidate A, the old answer comes, click A: asked for again', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    world.router.revalidate('/a')
    await world.request(0).done(...pageOf('/a', 'old'))
    await world.click('/a')
    expect(world.requests).toHaveLength(2)
  })

  test('prefetch A, revalidate A, click A: asked for again, the old answer is not shown', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'viewport')
    world.router.revalidate('/a')
    await world.click('/a')
    await world.request(0).done(...pageOf('/a', 'old'))
    expect(world.rendered).toEqual([])
    expect(world.requests).toHaveLength(2)
  })

  test('click A, revalidate A, the old answer comes: new data follows it on the screen', async () => {
    const world = createWorld()
    await world.click('/a')
    world.router.revalidate('/a')
    await world.answer(0, ...pageOf('/a', 'old'))
    await world.requests[1]?.done(...pageOf('/a', 'new'))
    await world.commit()
    expect(world.router.screen.view.data).toEqual({ '/a#page': 'new' })
  })

  test('A is shown and waits for a deferred value, revalidate A: asked for again', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).send(head('/a'), ...deferredSegment('/a#page'))
    await world.commit()
    world.router.revalidate('/a')
    await flush()
    expect(world.requests).toHaveLength(2)
  })

  test('A is on the screen, revalidate A, revalidate A again before the answer: the last state is shown', async () => {
    const world = createWorld({ deaf: true })
    await world.visit('/a', 'one')
    world.router.revalidate('/a')
    await flush()
    world.router.revalidate('/a')
    await flush()
    await world.request(1).done(...pageOf('/a', 'two'))
    await world.requests[2]?.done(...pageOf('/a', 'three'))
    await world.commit()
    expect(world.router.screen.view.data).toEqual({ '/a#page': 'three' })
  })
})

describe('what is kept', () => {
  test('data for 200 s, 100 s later a click: no request, for what the URL is neither', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.answer(0, head('/a'), segment('/a#page', 'a', { lifetime: 200 }))
    await world.visit('/b')
    await pass(100_000)
    await world.click('/a')
    await world.commit()
    expect(world.router.screen.href).toBe('/a')
    expect(world.requests).toHaveLength(2)
  })

  test('click A, revalidate B, A comes: it is kept', async () => {
    const world = createWorld()
    await world.click('/a')
    world.router.revalidate('/b')
    await world.answer(0, ...pageOf('/a'))
    await world.visit('/b')
    await world.click('/a')
    expect(world.requests).toHaveLength(2)
  })

  test('A is on the screen, and is asked for anew: what has come is reusable, not fresh', async () => {
    const world = createWorld()
    await world.visit('/a', 'old')
    world.router.refresh()
    await flush()
    await world.request(1).done(...pageOf('/a', 'new'))
    const states = [...world.known.cache.entries].map(([key, entry]) => [key, world.known.stateOf(entry)])
    expect(states).toContainEqual(['["/a#page"]{}', 'reusable'])
  })

  test('prefetch two pages with queries of their own: nobody knows yet what the layout reads, and it is asked for once', async () => {
    const world = createWorld()
    world.prefetcher.add('/lab/one?x=1', 'viewport')
    await world.prefetch('/lab/two?y=2', 'viewport')
    expect(world.requests.map(({ wants }) => wants)).toEqual([[LAYOUT, '/lab/one#page'], ['/lab/two#page']])
  })

  test('a URL that no page of the table has is not fetched ahead', async () => {
    const world = createWorld()
    await world.prefetch('/nowhere', 'intent')
    expect(world.requests).toEqual([])
  })
})

test('data whose end says that it depends on more than its record is not shown for another query', async () => {
  for (const last of [{ end: 0 }, { end: 0, lifetime: 0 }]) {
    const world = createWorld()
    await world.click('/a?q=1')
    await world.request(0).send(head('/a'), ...deferredSegment('/a#page'))
    await world.commit()
    await world.request(0).done(...lateValue('one').slice(0, 1), last)
    await world.click('/a?q=2')
    expect(world.requests).toHaveLength('lifetime' in last ? 2 : 1)
  }
})
