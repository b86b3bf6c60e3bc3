import { describe, expect, test } from 'vitest'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { flush } from './route-data-server.ts'
import { createWorld, holdTheClock, pass } from './router-world.ts'

holdTheClock()

describe('a page without loaders', () => {
  const module = (): Promise<unknown> => Promise.resolve({})
  const table = createRouteTable({
    '/': { page: module },
    '/plain': { page: module },
    '/u/[name]': { page: module },
    '/file': { handler: module },
    '/lab': { layoutLoader: module },
    '/lab/plain': { page: module },
  })

  test.for(['/plain', '/plain?a=1', '/u/ann'])('is shown without a request: %s', async (href) => {
    const world = createWorld({ table, asks: [] })
    world.prefetcher.add(href, 'intent')
    await world.click(href)
    await world.commit()
    expect(world.router.screen.href).toBe(href)
    await world.back()
    await world.commit()
    expect(world.router.screen.href).toBe('/')
    // As old as if the server had to be asked again.
    await pass(100_000)
    await world.click(href)
    await world.commit()
    world.router.refresh()
    await flush()
    await world.commit()
    expect(world.router.screen.href).toBe(href)
    expect(world.requests).toEqual([])
  })

  test('has its params', async () => {
    const world = createWorld({ table, asks: [] })
    await world.click('/u/a%20b')
    await world.commit()
    expect(world.router.screen.view.params).toEqual({ name: 'a b' })
  })

  test.for<readonly [what: string, href: string, asks: readonly string[] | undefined]>([
    ['about whose URL the server may decide', '/plain', ['/plain']],
    ['of an application whose server decides before the table', '/plain', undefined],
    ['below a layout with a loader', '/lab/plain', []],
    ['whose URL does not decode', '/u/%ff', []],
    ['whose URL is not tidy', '/plain/', []],
    ['that the table does not have', '/nowhere', []],
  ])('is asked for: one %s', async ([, href, asks]) => {
    const world = createWorld({ table, asks })
    await world.click(href)
    expect(world.requests).toMatchObject([{ href }])
  })

  test('is not asked for where only a document can show it', async () => {
    const world = createWorld({ table, asks: [] })
    await world.click('/file')
    expect(world.left).toEqual(['push /file'])
    expect(world.requests).toEqual([])
  })
})
