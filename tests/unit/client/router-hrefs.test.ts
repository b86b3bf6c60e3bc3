import { expect, test } from 'vitest'
import { flush, head, segment } from './route-data-server.ts'
import { createWorld } from './router-world.ts'

/** Goes to `/u/é`, which a browser writes in another way. */
async function visitUser(world: ReturnType<typeof createWorld>): Promise<void> {
  const before = world.requests.length
  await world.click('/u/é')
  await world.answer(before, head('/u/[name]', { params: { name: 'é' } }), segment('/u/[name]#page', 'é'))
}

test.for(['/u/é', '/u/%C3%A9', '/u/%c3%a9?tab=1#top', '/u/é/', '/u/*'])(
  'revalidate(%j) drops the page that a link to /u/é has led to',
  async (target) => {
    const world = createWorld()
    await visitUser(world)
    expect(world.router.screen.href).toBe('/u/%C3%A9')
    await world.visit('/a')
    world.router.revalidate(target)
    await world.click('/u/é')
    expect(world.requests.map(({ href }) => href)).toEqual(['/u/%C3%A9', '/a', '/u/%C3%A9'])
  },
)

test('revalidate of the page on screen asks for it anew, however it is written', async () => {
  const world = createWorld()
  await visitUser(world)
  world.router.revalidate('/u/é')
  await flush()
  expect(world.requests.map(({ href }) => href)).toEqual(['/u/%C3%A9', '/u/%C3%A9'])
})

test.for(['/u/é', './u/é#part', 'https://millrace.test/u/%C3%A9'])('prefetch(%j), click: one request', async (to) => {
  const world = createWorld()
  world.router.prefetch(to)
  await flush()
  await world.request(0).done(head('/u/[name]', { params: { name: 'é' } }), segment('/u/[name]#page', 'é'))
  await world.click('/u/é')
  await world.commit()
  expect(world.router.screen.view.data).toEqual({ '/u/[name]#page': 'é' })
  expect(world.requests.map(({ href }) => href)).toEqual(['/u/%C3%A9'])
})

test('pages of other sites are neither fetched ahead nor read, though this one has such a path', async () => {
  const world = createWorld()
  world.router.prefetch('https://other.test/a')
  await expect(world.router.read('//other.test/a', new AbortController().signal)).rejects.toThrow('Not a page')
  expect(world.requests).toEqual([])
})

test('what is read is named as in a link on the page on screen', async () => {
  const world = createWorld()
  await visitUser(world)
  const read = world.router.read('ö', new AbortController().signal)
  await flush()
  await world.request(1).done(head('/u/[name]', { params: { name: 'ö' } }), segment('/u/[name]#page', 'ö'))
  expect(await read).toMatchObject({ data: { '/u/[name]#page': 'ö' } })
  expect(world.request(1).href).toBe('/u/%C3%B6')
})

test.for(['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'http://['])(
  'navigate(%j) goes nowhere, and says so',
  async (to) => {
    const world = createWorld()
    expect(() => world.router.navigate(to)).toThrow(TypeError)
    await flush()
    expect([world.left, world.requests, world.events]).toEqual([[], [], []])
  },
)

test('navigate to another site, and to what the server answers by itself, is the browser’s', async () => {
  const world = createWorld()
  world.router.navigate('//other.test/a')
  world.router.navigate(new URL('https://other.test/a'), { replace: true })
  world.router.navigate('/readyz')
  await flush()
  expect(world.left).toEqual([
    'push https://other.test/a',
    'replace https://other.test/a',
    'push https://millrace.test/readyz',
  ])
  expect(world.requests).toEqual([])
})

test('revalidate of what is not on the screen asks for nothing', async () => {
  const world = createWorld()
  await world.visit('/a')
  world.router.revalidate('/b', '/a/*x', 'tag')
  await flush()
  expect(world.requests).toHaveLength(1)
})

test('revalidate by a tag that the page on screen has asks for it anew', async () => {
  const world = createWorld()
  await world.click('/a')
  await world.answer(0, head('/a'), segment('/a#page', 'a', { tags: ['mill:1'] }))
  world.router.revalidate('mill:1')
  await flush()
  expect(world.requests.map(({ href }) => href)).toEqual(['/a', '/a'])
})
