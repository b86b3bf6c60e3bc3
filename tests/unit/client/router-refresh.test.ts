import { expect, test } from 'vitest'
import { flush, pageOf } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

test('a refresh while a click is being followed does not cancel it, and the page comes with fresh data', async () => {
  const world = createWorld()
  await world.visit('/a', 'old')
  await world.visit('/b')
  await world.click('/c')
  world.router.refresh()
  await flush()
  await world.request(2).done(...pageOf('/c', 'from before'))
  await world.requests.at(-1)?.done(...pageOf('/c', 'c'))
  await world.commit()
  expect(world.router.screen.href).toBe('/c')
  expect(world.events).not.toContain('cancel /c')
  await world.click('/a')
  await world.requests.at(-1)?.done(...pageOf('/a', 'fresh'))
  await world.commit()
  expect(world.router.screen.view.data).toEqual({ '/a#page': 'fresh' })
})

test('a step back from a page that did not come goes on when the network is back at that moment', async () => {
  const world = createWorld()
  await world.visit('/a', 'old')
  await world.click('/b')
  world.router.setOnline(false)
  for (const delay of [300, 600, 1200, 0]) {
    await world.requests.at(-1)?.fail()
    await pass(delay)
  }
  await world.commit()
  expect(world.router.screen.view.outcome?.kind).toBe('error')
  world.router.revalidate('/a')
  await world.back()
  const asked = world.requests.length
  world.router.setOnline(true)
  await flush()
  await world.request(asked - 1).done(...pageOf('/a', 'from before'))
  await world.requests.at(-1)?.done(...pageOf('/a', 'fresh'))
  await world.commit()
  expect(world.router.screen).toMatchObject({ href: '/a', view: { data: { '/a#page': 'fresh' } } })
  expect(world.events).not.toContain('cancel /a')
})

test('data that is reloaded while React renders the next page does not take that page’s place', async () => {
  const world = createWorld()
  await world.visit('/a', 'old')
  await world.click('/b')
  world.router.revalidate('/a')
  await flush()
  await world.request(1).done(...pageOf('/b', 'b'))
  await world.answer(2, ...pageOf('/a', 'new'))
  expect(world.router.screen.href).toBe('/b')
  expect(world.router.navigation.state).toBe('idle')
})

test('what is dropped while React renders the next page is asked for again when that page is there', async () => {
  const world = createWorld()
  await world.click('/a')
  await world.request(0).done(...pageOf('/a', 'old'))
  expect(world.router.navigation.state).toBe('committing')
  world.router.revalidate('/a')
  await world.commit()
  await world.answer(1, ...pageOf('/a', 'new'))
  expect(world.router.screen).toMatchObject({ href: '/a', view: { data: { '/a#page': 'new' } } })
  expect(world.requests).toHaveLength(2)
})

test('a drop while a boundary of the screen shows a fallback does not cancel a click', async () => {
  const world = createWorld()
  await world.visit('/a')
  world.router.fallBack({ kind: 'not-found', at: 0 } as never)
  await world.commit()
  await world.click('/b')
  world.router.revalidate('/*')
  await flush()
  await world.request(1).done(...pageOf('/b', 'from before'))
  await world.requests.at(-1)?.done(...pageOf('/b', 'b'))
  await world.commit()
  expect(world.router.screen.href).toBe('/b')
  expect(world.events).not.toContain('cancel /b')
})

test('a relative URL is one of the page on screen, even if the address bar is ahead of it', async () => {
  const world = createWorld()
  await world.visit('/a')
  await world.visit('/b')
  world.router.revalidate('/*')
  await world.back()
  await world.click('?x=1')
  expect(world.events.at(-1)).toBe('start /b?x=1')
})

test('a fragment is one of the page with the search params that were asked for before', async () => {
  const world = createWorld()
  await world.visit('/a')
  world.router.navigate('?x=1')
  world.router.navigate('#foot')
  expect(world.events.at(-1)).toBe('start /a?x=1#foot')
})
