import { describe, expect, test } from 'vitest'
import { RedirectLoopError } from '../../../src/client/react/router-errors.ts'
import { flush, head, pageOf, redirectTo, segment } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

describe('redirects', () => {
  test('click A, 20 redirects and a page: it is shown, and stands in the history alone', async () => {
    const world = createWorld()
    await world.click('/a')
    for (let hop = 0; hop < 20; hop += 1) await world.request(hop).done(redirectTo(`/a?n=${hop + 1}`))
    expect(world.request(20).href).toBe('/a?n=20')
    await world.answer(20, head('/a', { scope: 'url' }), segment('/a#page', 'end'))
    expect(world.router.screen.view.outcome).toBeUndefined()
    expect(world.entries).toEqual(['/', '/a?n=20'])
  })

  test('click A, 21 redirects: the error boundary is shown, and no more is asked', async () => {
    const world = createWorld()
    await world.click('/a')
    for (let hop = 0; hop < 21; hop += 1) await world.request(hop).done(redirectTo(`/a?n=${hop + 1}`))
    expect(world.requests).toHaveLength(21)
    await world.commit()
    expect(world.outcome).toEqual({ kind: 'error', at: 0, origin: 'client', reason: 'server', status: 0 })
    expect(world.rendered.at(-1)?.page.failure).toBeInstanceOf(RedirectLoopError)
  })

  test('A leads to B and B to A: the loop ends at the error boundary', async () => {
    const world = createWorld()
    await world.click('/a')
    for (let hop = 0; hop < 21; hop += 1) await world.answer(hop, redirectTo(hop % 2 === 0 ? '/b' : '/a'))
    expect(world.requests).toHaveLength(21)
    expect(world.rendered.at(-1)?.page.failure).toBeInstanceOf(RedirectLoopError)
  })
})

describe('a redirect that a component throws', () => {
  test('leads on in the place of the page that threw it', async () => {
    const world = createWorld()
    await world.visit('/a')
    world.router.redirect('/b', false)
    await flush()
    await world.answer(1, ...pageOf('/b'))
    expect(world.entries).toEqual(['/', '/b'])
  })

  test('leads to another site as a document', () => {
    const world = createWorld()
    world.router.redirect('https://example.test/a', true)
    expect(world.left).toEqual(['replace https://example.test/a'])
  })

  test.for([
    ['//evil.test', false],
    ['/\\evil.test', false],
    ['https://evil.test', false],
    ['javascript:alert(1)', false],
    ['javascript:alert(1)', true],
    ['\tjavascript:alert(1)', false],
    ['a', false],
    ['', false],
  ] as const)('never leads to %j (another site: %j)', async ([to, external]) => {
    const world = createWorld()
    world.router.redirect(to, external)
    await flush()
    expect(world.left).toEqual([])
    expect(world.requests).toEqual([])
  })
})

describe('failures and refusals', () => {
  test('click A, 503 with Retry-After 2: asked again after two seconds, and shown', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).open(503, { 'Retry-After': '2', 'Content-Type': 'text/plain' })
    await pass(1999)
    expect(world.requests).toHaveLength(1)
    await pass(1)
    expect(world.requests).toHaveLength(2)
    await world.answer(1, ...pageOf('/a'))
    expect(world.router.screen.href).toBe('/a')
  })

  test('click A, 503 with Retry-After 2, click B, two seconds pass: A is not asked for again', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).open(503, { 'Retry-After': '2', 'Content-Type': 'text/plain' })
    await world.click('/b')
    await pass(10_000)
    expect(world.requests.map(({ href }) => href)).toEqual(['/a', '/b'])
  })

  test('click A, the connection breaks four times: the error boundary is shown', async () => {
    const world = createWorld()
    await world.click('/a')
    for (const [index, delay] of [300, 600, 1200].entries()) {
      await world.request(index).fail()
      await pass(delay - 1)
      expect(world.requests).toHaveLength(index + 1)
      await pass(1)
      expect(world.requests).toHaveLength(index + 2)
    }
    await world.request(3).fail()
    await world.commit()
    expect(world.outcome).toEqual({ kind: 'error', at: 0, origin: 'client', reason: 'offline', status: 0 })
    expect(world.events).toEqual(['start /a', 'fail /a'])
    expect(world.entries).toEqual(['/', '/a'])
  })

  test('click A, it is refused with 404, click B, click A: asked for again', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).open(404)
    await world.answer(0, head('/a'), { outcome: { kind: 'notFound', at: 0 } })
    expect(world.router.screen.view.outcome).toMatchObject({ kind: 'notFound', at: 0 })
    await world.visit('/b')
    await world.click('/a')
    await world.answer(2, ...pageOf('/a'))
    expect(world.router.screen.view).toMatchObject({ data: { '/a#page': '/a' } })
    expect(world.router.screen.view.outcome).toBeUndefined()
  })
})
