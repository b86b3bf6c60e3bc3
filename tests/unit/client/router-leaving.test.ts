import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { flush, pageOf, redirectTo } from './route-data-server.ts'
import { createWorld, pass } from './router-world.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** What the router reports as uncaught. */
function reported(): unknown[] {
  const all: unknown[] = []
  vi.stubGlobal('reportError', (thrown: unknown) => all.push(thrown))
  return all
}

test('click what turns out to be a file, pending: the browser takes it, and the page is not pending any more', async () => {
  const world = createWorld()
  await world.click('/file')
  await pass(100)
  expect(world.router.pending).toMatchObject({ href: '/file' })
  await world.request(0).done({ v: 1, build: 'b1', document: true })
  expect(world.left).toEqual(['push /file'])
  expect(world.router.pending).toBeUndefined()
  await world.visit('/a')
  expect(world.events).toEqual(['start /file', 'leave /file', 'start /a', 'commit /a'])
})

test('another document is loaded: a click before is given up, a move in the history is not', async () => {
  const world = createWorld()
  await world.visit('/a')
  await world.click('/b')
  world.router.giveUp()
  await flush()
  expect(world.request(1).aborted).toBe(true)
  expect(world.router.navigation.state).toBe('cancelled')
  await world.back()
  world.router.giveUp()
  expect(world.router.navigation).toMatchObject({ target: { href: '/' } })
  expect(world.events).not.toContain('cancel /')
})

describe('back, and before its page is there', () => {
  test('click C: C stands behind the page that was on the screen, which is not lost', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.visit('/b')
    await world.back()
    await world.back()
    expect(world.address).toBe('/')
    await world.click('/c')
    await world.answer(2, ...pageOf('/c'))
    expect(world.entries).toEqual(['/', '/a', '/b', '/c'])
    expect(world.router.screen.href).toBe('/c')
  })

  test('a refresh: the step goes on, and its page has its data asked for anew', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.visit('/b')
    await world.back()
    world.router.refresh()
    await flush()
    await world.commit()
    await world.answer(2, ...pageOf('/a', 'anew'))
    expect([world.address, world.router.screen.view.data]).toEqual(['/a', { '/a#page': 'anew' }])
    expect(world.entries).toEqual(['/', '/a', '/b'])
  })

  test('click the page that it leads to: it is shown in its own entry', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.visit('/b')
    await world.back()
    await world.click('/a')
    await world.answer(2, ...pageOf('/a'))
    expect([world.address, world.router.screen.href]).toEqual(['/a', '/a'])
    expect(world.entries).toEqual(['/', '/a', '/b'])
  })

  test('it comes, click C: C takes the place of what was behind it', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.visit('/b')
    await world.back()
    await world.commit()
    await world.click('/c')
    await world.answer(2, ...pageOf('/c'))
    expect(world.entries).toEqual(['/', '/a', '/c'])
  })
})

describe('what an answer says of the moment', () => {
  test('click A, it leads to B, sign in, click A: A is asked for again, and shown', async () => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).done(redirectTo('/b'))
    await world.answer(1, ...pageOf('/b'))
    expect(world.router.screen.href).toBe('/b')
    await world.click('/a')
    await world.answer(2, ...pageOf('/a'))
    expect(world.router.screen.href).toBe('/a')
  })

  test('prefetch A, it leads to B: fetched as well, and A is not fetched ahead again and again', async () => {
    const world = createWorld()
    await world.prefetch('/a', 'intent')
    await world.request(0).done(redirectTo('/b#part'))
    await world.request(1).done(...pageOf('/b'))
    await world.prefetch('/a', 'intent')
    expect(world.requests.map(({ href }) => href)).toEqual(['/a', '/b'])
    await pass(10_000)
    await world.prefetch('/a', 'intent')
    expect(world.requests).toHaveLength(3)
  })

  test.for([503, 429])('click A, %i with Retry-After 5: nothing is fetched ahead for five seconds', async (status) => {
    const world = createWorld()
    await world.click('/a')
    await world.request(0).open(status, { 'Retry-After': '5', 'Content-Type': 'text/plain' })
    world.prefetcher.add('/b', 'intent')
    await pass(4999)
    expect(world.requests).toHaveLength(1)
    await pass(1)
    expect(world.requests.map(({ href, prefetch }) => [href, prefetch])).toContainEqual(['/b', true])
  })

  test('revalidate, click: the browser’s own cache asks the server, where it did not have to before', async () => {
    const world = createWorld()
    await world.visit('/a')
    world.router.revalidate('/b')
    await world.visit('/b')
    expect(world.requests.map(({ init }) => init.cache)).toEqual(['default', 'no-cache'])
  })
})

describe('a blocker', () => {
  test('is not asked about moves within the page', async () => {
    const world = createWorld()
    await world.visit('/a')
    const asked: unknown[] = []
    world.listeners.blockers.add(({ href }) => asked.push(href) > 0)
    await world.click('/a#part')
    await world.back()
    expect(asked).toEqual([])
    expect(world.router.screen.href).toBe('/a')
    await world.back()
    expect(asked).toEqual(['/'])
  })

  test('that fails has no say', async () => {
    const faults = reported()
    const world = createWorld()
    world.listeners.blockers.add(() => {
      throw new Error('blocker')
    })
    await world.visit('/a')
    await world.back()
    await world.commit()
    expect(world.router.screen.href).toBe('/')
    expect(faults).toMatchObject([{ message: 'blocker' }, { message: 'blocker' }])
  })
})

test('who listens to navigations and fails stops none of them', async () => {
  const faults = reported()
  const world = createWorld()
  world.listeners.navigations.clear()
  const heard: string[] = []
  world.listeners.navigations.add(() => {
    throw new Error('listener')
  })
  world.listeners.navigations.add(({ type }) => heard.push(type))
  await world.visit('/a')
  expect(world.router.screen.href).toBe('/a')
  expect(world.router.navigation).toEqual({ state: 'idle' })
  expect(heard).toEqual(['start', 'commit'])
  expect(faults).toHaveLength(2)
})
