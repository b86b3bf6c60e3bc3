import { describe, expect, test, vi } from 'vitest'
import { deferredSegment, flush, head, lateValue, pageOf, redirectTo, segment } from './route-data-server.ts'
import { createWorld, holdTheClock } from './router-world.ts'

holdTheClock()

/** The answer of a call from a page: the result, then fresh data of the page. */
const answerOn = (href: string, data: unknown, more: object = {}): readonly object[] => [
  head(href),
  segment('#action', { value: 'done', ...more }, { lifetime: 0 }),
  segment(`${href}#page`, data),
]

/** The page `/a`, with an action under way on it: request 1. */
async function callOnA() {
  const world = createWorld()
  await world.visit('/a', 'old')
  const result = world.call()
  await flush()
  return { world, result }
}

const shown = ({ router: { screen } }: ReturnType<typeof createWorld>) => [screen.href, screen.view.data]

describe('an action during a navigation', () => {
  test('call on A, click B, the answer comes: its result is given and its data shown on A, then B comes', async () => {
    const { world, result } = await callOnA()
    await world.click('/b')
    await world.request(1).done(...answerOn('/a', 'fresh'))
    expect(await result).toBe('done')
    await world.commit()
    expect(shown(world)).toEqual(['/a', { '/a#page': 'fresh' }])
    await world.answer(2, ...pageOf('/b'))
    expect(shown(world)).toEqual(['/b', { '/b#page': '/b' }])
    expect(world.events.slice(2)).toEqual(['start /b', 'commit /b'])
  })

  test('the answer shows its data together with its result, but for the next user at once', async () => {
    for (const isFormer of [false, true]) {
      const { world, result } = await callOnA()
      if (isFormer) world.window.document.dispatchEvent(new Event('millrace:former'))
      await world.request(1).done(...answerOn('/a', 'fresh'))
      expect(await result).toBe('done')
      expect(world.waits()).toBe(!isFormer)
    }
  })

  test('call on A, click B, B comes, the answer comes: its result is given, B stays, A is fresh on the way back', async () => {
    const { world, result } = await callOnA()
    await world.visit('/b')
    const { length } = world.rendered
    await world.request(1).done(...answerOn('/a', 'fresh'))
    expect(await result).toBe('done')
    expect(world.rendered).toHaveLength(length)
    await world.back()
    await world.commit()
    expect(shown(world)).toEqual(['/a', { '/a#page': 'fresh' }])
    expect(world.requests).toHaveLength(3)
  })

  test('call on A, click B, B is given to React, the answer comes: A is not rendered in its place', async () => {
    const { world, result } = await callOnA()
    await world.click('/b')
    await world.request(2).done(...pageOf('/b'))
    await world.request(1).done(...answerOn('/a', 'fresh'))
    expect(await result).toBe('done')
    await world.commit()
    expect(shown(world)).toEqual(['/b', { '/b#page': '/b' }])
  })

  test('call on A, click B, the answer drops B, B comes as it was before: it is asked for again', async () => {
    const { world } = await callOnA()
    await world.click('/b')
    await world.request(1).done(...answerOn('/a', 'fresh', { revalidate: ['/b'] }))
    await world.answer(2, ...pageOf('/b', 'before'))
    await world.answer(3, ...pageOf('/b', 'after'))
    expect(shown(world)).toEqual(['/b', { '/b#page': 'after' }])
  })

  test('call on A, click B, the answer leads to C: B is shown', async () => {
    const { world, result } = await callOnA()
    await world.click('/b')
    await world.request(1).done(redirectTo('/c'))
    expect(await result).toBeNull()
    await world.answer(2, ...pageOf('/b'))
    expect(shown(world)).toEqual(['/b', { '/b#page': '/b' }])
    expect(world.requests).toHaveLength(3)
  })

  test('click B, call on A, the answer leads to C: B is given up, and C is shown', async () => {
    const world = createWorld()
    await world.visit('/a')
    await world.click('/b')
    const result = world.call()
    await flush()
    await world.request(2).done(redirectTo('/c'))
    expect(await result).toBeNull()
    await flush()
    expect(world.request(1).aborted).toBe(true)
    await world.answer(3, ...pageOf('/c'))
    expect(shown(world)).toEqual(['/c', { '/c#page': '/c' }])
    expect(world.entries).toEqual(['/', '/a', '/c'])
  })
})

describe('an action and data that is asked for behind the page', () => {
  test('revalidate A, call on A, the answer comes, then that of before: the answer of the call stays', async () => {
    const world = createWorld({ deaf: true })
    await world.visit('/a', 'old')
    world.router.revalidate('/a')
    const result = world.call()
    await flush()
    await world.request(2).done(...answerOn('/a', 'fresh'))
    expect(await result).toBe('done')
    await world.answer(1, ...pageOf('/a', 'before'))
    expect(shown(world)).toEqual(['/a', { '/a#page': 'fresh' }])
  })

  test('revalidate A, it fails: what is on the screen stays', async () => {
    const world = createWorld()
    await world.visit('/a', 'old')
    const { length } = world.rendered
    world.router.revalidate('/a')
    await flush()
    await world.request(1).open(500)
    await world.request(1).done(head('/a'), { outcome: { kind: 'error', at: 0, digest: 'abc' } })
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      await vi.advanceTimersByTimeAsync(5000)
      await flush()
      await world.request(attempt).open(500)
      await world.request(attempt).done(head('/a'), { outcome: { kind: 'error', at: 0, digest: 'abc' } })
    }
    expect(world.requests).toHaveLength(5)
    expect(world.rendered).toHaveLength(length)
    expect(shown(world)).toEqual(['/a', { '/a#page': 'old' }])
  })

  test('revalidate A, it leads to B by now: B is shown in its place', async () => {
    const world = createWorld()
    await world.visit('/a')
    world.router.revalidate('/a')
    await flush()
    await world.request(1).done(redirectTo('/b'))
    await world.answer(2, ...pageOf('/b'))
    expect(shown(world)).toEqual(['/b', { '/b#page': '/b' }])
    expect(world.entries).toEqual(['/', '/b'])
  })
})

describe('an action that is refused', () => {
  const PAGE = '/lab/one'
  const page = (user: string): readonly object[] => [
    head(PAGE),
    segment('/lab#layout', user),
    segment(`${PAGE}#page`, 'page'),
  ]

  test.for(['before', 'after'] as const)(
    'the fallback is shown %s fresh data of the layout comes: both are on the screen',
    async (order) => {
      const world = createWorld()
      await world.click(PAGE)
      await world.answer(0, ...page('ann'))
      const refused = world.call()
      refused.catch(() => undefined)
      await flush()
      await world.request(1).open(401)
      await world.request(1).done(head(PAGE), { outcome: { kind: 'unauthorized', at: 0 } })
      await expect(refused).rejects.toMatchObject({ kind: 'unauthorized' })
      const fallback = { kind: 'unauthorized', at: 0 } as const
      const fallBack = async (): Promise<void> => {
        world.router.fallBack(fallback)
        if (order === 'before') await world.commit()
      }
      if (order === 'before') await fallBack()
      await flush()
      if (order === 'after') await fallBack()
      await world.answer(2, ...page('nobody'))
      expect(world.router.screen).toMatchObject({ fallback, view: { data: { '/lab#layout': 'nobody' } } })
      expect(world.requests).toHaveLength(3)
    },
  )
})

describe('an action whose answer has deferred values', () => {
  const result = segment('#action', { value: 'done' }, { lifetime: 0 })
  const lateOf = ({ router }: ReturnType<typeof createWorld>) =>
    (router.screen.view.data['/a#page'] as { readonly late: Promise<unknown> }).late

  /** The page `/a` with a deferred value that has arrived, and a call on it: request 1. */
  async function callOnDeferred() {
    const world = createWorld()
    await world.click('/a')
    await world.answer(0, head('/a'), ...deferredSegment('/a#page'), ...lateValue('old'))
    const called = world.call()
    await flush()
    return { world, called }
  }

  test('the result comes, the former value stays, and then the new one is shown', async () => {
    const { world, called } = await callOnDeferred()
    const former = lateOf(world)
    await world.request(1).send(head('/a'), result, ...deferredSegment('/a#page'))
    expect(await called).toBe('done')
    await world.commit()
    expect(lateOf(world)).toBe(former)
    await world.answer(1, ...lateValue('new'))
    expect(await lateOf(world)).toBe('new')
  })

  test('another call is answered first: its values stay', async () => {
    const { world, called } = await callOnDeferred()
    await world.request(1).send(head('/a'), result, ...deferredSegment('/a#page'))
    await called
    await world.commit()
    const second = world.call()
    await flush()
    await world.request(2).done(head('/a'), result, ...deferredSegment('/a#page'), ...lateValue('newest'))
    await second
    await world.commit()
    await world.answer(1, ...lateValue('new'))
    expect(await lateOf(world)).toBe('newest')
  })

  test('it leads elsewhere: the target is shown before its deferred value, which is then known', async () => {
    const { world, called } = await callOnDeferred()
    const target = { ...head('/b'), redirect: { to: '/b' } }
    await world.request(1).send(target, segment('#action', {}, { lifetime: 0 }), ...deferredSegment('/b#page'))
    expect(await called).toBeNull()
    await flush()
    await world.commit()
    expect(world.router.screen.href).toBe('/b')
    await world.request(1).done(...lateValue('there'))
    await world.click('/a')
    await world.commit()
    await world.click('/b')
    await world.commit()
    expect(world.router.screen.href).toBe('/b')
    expect(world.requests).toHaveLength(2)
  })
})

describe('what is dropped during a call', () => {
  test('is loaded once more after the answer, which may be older', async () => {
    const { world, result } = await callOnA()
    world.router.forget(['/a'])
    await flush()
    await world.request(1).done(...answerOn('/a', 'by the call'))
    await result
    await world.commit()
    await world.answer(3, ...pageOf('/a', 'newest'))
    expect(shown(world)).toEqual(['/a', { '/a#page': 'newest' }])
    expect(world.request(2).aborted).toBe(true)
  })
})
