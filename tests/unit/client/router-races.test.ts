import { describe, expect, test, vi } from 'vitest'
import { BUILD_HEADER } from '../../../src/shared/protocol/route-data.ts'
import { deferredSegment, flush, head, lateValue, pageOf, segment } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

describe('one navigation overtakes another', () => {
  test("click A, click B, A's data comes: only B is shown, A's request was aborted", async () => {
    const world = createWorld({ deaf: true })
    await world.click('/a')
    await world.click('/b')
    expect(world.requests.map(({ aborted }) => aborted)).toEqual([true, false])
    await world.request(0).done(...pageOf('/a'))
    expect(world.rendered).toEqual([])
    await world.answer(1, ...pageOf('/b'))
    expect(world.rendered.map(({ href }) => href)).toEqual(['/b'])
    expect(world.entries).toEqual(['/', '/b'])
    expect(world.events).toEqual(['start /a', 'cancel /a', 'start /b', 'commit /b'])
  })

  test("click A, click B, B's data comes before A's: B stays", async () => {
    const world = createWorld({ deaf: true })
    await world.click('/a')
    await world.click('/b')
    await world.answer(1, ...pageOf('/b'))
    await world.request(0).done(...pageOf('/a'))
    expect(world.router.screen.href).toBe('/b')
    expect(world.rendered).toHaveLength(1)
  })

  test('click B, back before its data comes: the page before is shown, and nothing of B', async () => {
    const world = createWorld({ deaf: true })
    await world.visit('/a')
    await world.click('/b')
    await world.back()
    expect(world.request(1).aborted).toBe(true)
    await world.answer(1, ...pageOf('/b'))
    expect(world.router.screen.href).toBe('/')
    expect(world.entries).toEqual(['/', '/a'])
    expect(world.address).toBe('/')
    expect(world.rendered.map(({ href }) => href)).toEqual(['/a', '/'])
  })

  test('A is given to React, click B: A is taken back, and has never been in the history', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).done(...pageOf('/a'))
    await world.click('/b')
    expect(world.rendered.map(({ href }) => href)).toEqual(['/a', '/'])
    await world.answer(1, ...pageOf('/b'))
    expect(world.router.screen.href).toBe('/b')
    expect(world.entries).toEqual(['/', '/b'])
    expect(world.events).toEqual(['start /a', 'cancel /a', 'start /b', 'commit /b'])
  })

  test("click A, its data comes but not its code, click B, A's code comes: only B is shown", async () => {
    const world = createWorld()
    const code = Promise.withResolvers<void>()
    vi.spyOn(world.code, 'load').mockReturnValueOnce(code.promise)
    await world.click('/a')
    await world.request(0).done(...pageOf('/a'))
    expect(world.rendered).toEqual([])
    await world.click('/b')
    code.resolve()
    await flush()
    expect(world.rendered).toEqual([])
    await world.answer(1, ...pageOf('/b'))
    expect(world.rendered.map(({ href }) => href)).toEqual(['/b'])
  })

  test('click A, 100 ms: pending; click B: not pending before another 100 ms', async () => {
    const world = createWorld()
    await world.click('/a')
    await pass(99)
    expect(world.router.pending).toBeUndefined()
    await pass(1)
    expect(world.router.pending).toMatchObject({ href: '/a' })
    await world.click('/b')
    await pass(99)
    expect(world.router.pending).toBeUndefined()
    await pass(1)
    expect(world.router.pending).toMatchObject({ href: '/b' })
  })
})

describe('deferred values', () => {
  test('A waits for one, click B: it is aborted when B is in the document, not before', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).send(head('/a'), ...deferredSegment('/a#page'))
    await world.commit()
    expect(world.router.screen.href).toBe('/a')
    await world.click('/b')
    await world.request(1).done(...pageOf('/b'))
    expect(world.rendered.at(-1)?.href).toBe('/b')
    expect(world.request(0).aborted).toBe(false)
    await world.commit()
    expect(world.request(0).aborted).toBe(true)
  })

  test('A waits for one and was never committed, click B: it is aborted at once', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).send(head('/a'), ...deferredSegment('/a#page'))
    await world.click('/b')
    expect(world.request(0).aborted).toBe(true)
  })

  test('A waits for one, click B, B is cancelled by a move within A: the value still comes', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).send(head('/a'), ...deferredSegment('/a#page'))
    await world.commit()
    await world.click('/b')
    await world.click('/a#part')
    expect(world.request(1).aborted).toBe(true)
    await world.request(0).done(...lateValue('here'))
    const data = world.router.screen.view.data['/a#page'] as { readonly late: Promise<string> }
    await expect(data.late).resolves.toBe('here')
  })
})

describe('revalidate', () => {
  test('click A, revalidate, the answer of before comes: it is shown once, and asked for at the next visit', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).send(head('/a'))
    world.router.revalidate('/a')
    await world.request(0).done(segment('/a#page', 'old'))
    expect(world.known.cache.entries.has('path /a')).toBe(false)
    expect([...world.known.cache.entries.keys()].filter((key) => key.includes('/a'))).toEqual([])
    await world.commit()
    await world.visit('/b')
    const before = world.requests.length
    await world.click('/a')
    expect(world.requests.slice(before).map(({ href }) => href)).toEqual(['/a'])
  })

  test('revalidate what is on the screen: asked for anew, and the new data is rendered in the same visit', async () => {
    const world = createWorld()
    await world.visit('/a', 'old')
    world.router.revalidate('/a')
    await flush()
    await world.request(1).done(...pageOf('/a', 'new'))
    expect(world.rendered.at(-1)).toMatchObject({ href: '/a', visit: 1, view: { data: { '/a#page': 'new' } } })
    expect(world.entries).toEqual(['/', '/a'])
  })

  test('revalidate what is on the screen, click B, the new data comes: B is shown, and A is not rendered', async () => {
    const world = createWorld({ deaf: true })
    await world.visit('/a', 'old')
    world.router.revalidate('/a')
    await flush()
    await world.click('/b')
    expect(world.request(1).aborted).toBe(true)
    await world.request(1).done(...pageOf('/a', 'new'))
    await world.answer(2, ...pageOf('/b'))
    expect(world.rendered.map(({ href }) => href)).toEqual(['/a', '/b'])
  })
})

describe('another build', () => {
  test('click A, the server is of another build: the browser loads A, and the next page too, without asking', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const world = createWorld()
    await world.click('/a')
    await world.request(0).open(409, { [BUILD_HEADER]: 'b2', 'Content-Type': 'text/plain' })
    expect(world.left).toEqual(['push /a'])
    await world.click('/b')
    expect(world.left).toEqual(['push /a', 'push /b'])
    world.router.prefetch('/c')
    await flush()
    expect(world.requests).toHaveLength(1)
    expect(world.rendered).toEqual([])
  })
})

describe('stale data', () => {
  test('A is a minute old, click A: shown at once, asked for behind; equal content renders nothing', async () => {
    const world = createWorld()
    const data = { name: 'a' }
    await world.visit('/a', data)
    await world.visit('/b')
    await pass(61_000)
    await world.click('/a')
    expect(world.rendered.at(-1)?.href).toBe('/a')
    expect(world.requests).toHaveLength(2)
    await world.commit()
    expect(world.requests.map(({ href }) => href)).toEqual(['/a', '/b', '/a'])
    const { length } = world.rendered
    await world.request(2).done(...pageOf('/a', data))
    expect(world.rendered).toHaveLength(length)
  })

  test('A is a minute old, click A, its new data differs: rendered in the same visit, without a scroll', async () => {
    const world = createWorld()
    await world.visit('/a', 'old')
    await world.visit('/b')
    await pass(61_000)
    await world.click('/a')
    await world.commit()
    const { visit } = world.router.screen
    await world.request(2).done(...pageOf('/a', 'new'))
    expect(world.rendered.at(-1)).toMatchObject({ visit, view: { data: { '/a#page': 'new' } } })
    expect(world.rendered.at(-1)?.arrival).toBeUndefined()
  })

  test('A is six minutes old, click A: nothing is shown before its new data is here', async () => {
    const world = createWorld()
    await world.visit('/a', 'old')
    await world.visit('/b')
    await pass(360_000)
    await world.click('/a')
    expect(world.rendered).toHaveLength(2)
    await world.request(2).done(...pageOf('/a', 'new'))
    expect(world.rendered.at(-1)?.view.data).toEqual({ '/a#page': 'new' })
  })
})

describe('a blocker', () => {
  test('holds a click; reset: nothing was asked for; another click, proceed: the page comes', async () => {
    const world = createWorld()
    world.listeners.blockers.add(() => true)
    await world.click('/a')
    expect(world.requests).toEqual([])
    expect(world.router.blocked).toMatchObject({ href: '/a', kind: 'push' })
    world.router.blocked?.reset()
    expect(world.router.blocked).toBeUndefined()
    await flush()
    expect(world.requests).toEqual([])
    await world.click('/a')
    world.router.blocked?.proceed()
    await flush()
    await world.answer(0, ...pageOf('/a'))
    expect(world.entries).toEqual(['/', '/a'])
  })

  test('holds a step back: the address stays; reset stays; proceed goes back once and asks again next time', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.visit('/b')
    world.listeners.blockers.add(() => true)
    await world.back()
    expect(world.address).toBe('/b')
    expect(world.router.blocked).toMatchObject({ href: '/a', kind: 'traverse' })
    world.router.blocked?.reset()
    await flush()
    expect(world.address).toBe('/b')
    expect(world.router.screen.href).toBe('/b')
    await world.back()
    world.router.blocked?.proceed()
    await flush()
    await world.commit()
    expect(world.address).toBe('/a')
    expect(world.router.screen.href).toBe('/a')
    expect(world.entries).toEqual(['/', '/a', '/b'])
    await world.back()
    expect(world.router.blocked).toMatchObject({ href: '/' })
  })
})
