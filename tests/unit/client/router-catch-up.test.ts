import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createWorld, flush, head, segment } from './router-world.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('catching up with what is known', () => {
  const one = [head('/lab/one'), segment('/lab#layout', 'old'), segment('/lab/one#page', 'one')]

  test('an action has brought newer data of a layout from the page before: it is shown without asking', async () => {
    const world = createWorld()
    await world.click('/lab/one')
    await world.request(0).done(...one)
    await world.commit()
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
    await world.request(0).done(...one)
    await world.commit()
    world.store.revalidate(['/lab/one'])
    world.router.catchUp()
    await flush()
    expect(world.request(1)).toMatchObject({ href: '/lab/one', wants: ['/lab/one#page'] })
  })
})
