import { expect, test, vi } from 'vitest'
import { createModuleCache } from '../../../src/client/react/module-cache.ts'

test('modules are brought in parallel', async () => {
  const gates = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()]
  const loaders = gates.map(({ promise }) => vi.fn<() => Promise<unknown>>(() => promise))
  const cache = createModuleCache()
  const loading = cache.load(loaders)
  for (const loader of loaders) expect(loader).toHaveBeenCalledTimes(1)
  gates[1]?.resolve('two')
  gates[0]?.resolve('one')
  await loading
  expect(loaders.map((loader) => cache.get(loader))).toEqual(['one', 'two'])
})

test('a module is brought once, for all who wait for it, and nobody waits for it afterwards', async () => {
  const loader = vi.fn<() => Promise<string>>(() => Promise.resolve('module'))
  const cache = createModuleCache()
  await Promise.all([cache.load([loader]), cache.load([loader, loader])])
  expect(cache.load([loader])).toBeUndefined()
  expect(cache.load([])).toBeUndefined()
  expect(loader).toHaveBeenCalledTimes(1)
})

test('an import that failed is tried again, and what came beside it is kept', async () => {
  const flaky = vi
    .fn<() => Promise<unknown>>()
    .mockRejectedValueOnce(new Error('offline'))
    .mockResolvedValueOnce('here')
  const sound = vi.fn<() => Promise<string>>(() => Promise.resolve('sound'))
  const cache = createModuleCache()
  await expect(cache.load([flaky, sound])).rejects.toThrow('offline')
  expect(cache.get(flaky)).toBeUndefined()
  await cache.load([flaky, sound])
  expect(cache.get(flaky)).toBe('here')
  expect(flaky).toHaveBeenCalledTimes(2)
  expect(sound).toHaveBeenCalledTimes(1)
})
