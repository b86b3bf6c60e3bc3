import { expect, test } from 'vitest'
import { createSaveQueue, type SaveQueue } from '../../../scripts/dev/watch/save-queue.ts'

interface Update {
  readonly files: readonly string[]
  readonly end: (good: boolean) => void
  readonly fail: (error: unknown) => void
}

function createQueue(): { readonly queue: SaveQueue; readonly updates: Update[]; readonly defects: unknown[] } {
  const updates: Update[] = []
  const defects: unknown[] = []
  const queue = createSaveQueue(
    (files) => {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      updates.push({ files, end: resolve, fail: reject })
      return promise
    },
    (error) => defects.push(error),
  )
  return { queue, updates, defects }
}

/** Lets all that needs no other event come to pass. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done))

test('a file that is saved while an update runs is told to the next one, and not to the running one', async () => {
  const { queue, updates } = createQueue()
  queue.add(['routes.ts'])
  queue.add(['page.tsx'])
  updates[0]?.end(true)
  await settle()
  expect(updates.map(({ files }) => files)).toEqual([['routes.ts'], ['page.tsx']])
})

test('several saves while an update runs make one update', async () => {
  const { queue, updates } = createQueue()
  queue.add(['a'])
  queue.add(['b'])
  queue.add(['c', 'b'])
  updates[0]?.end(true)
  await settle()
  updates[1]?.end(true)
  await queue.idle()
  expect(updates.map(({ files }) => files)).toEqual([['a'], ['b', 'c']])
})

test('what did not build is told again with the save that mends it', async () => {
  const { queue, updates } = createQueue()
  queue.add(['routes.ts'])
  updates[0]?.end(false)
  await queue.idle()
  expect(updates).toHaveLength(1)
  queue.add(['page.tsx'])
  expect(updates[1]?.files).toEqual(['routes.ts', 'page.tsx'])
  updates[1]?.end(true)
  await queue.idle()
  queue.add([])
  expect(updates[2]?.files).toEqual([])
})

test('an update that throws is told as a defect, and the next save is dealt with', async () => {
  const { queue, updates, defects } = createQueue()
  queue.add(['a'])
  const defect = new Error('disk full')
  updates[0]?.fail(defect)
  await queue.idle()
  expect(defects).toEqual([defect])
  queue.add(['b'])
  expect(updates[1]?.files).toEqual(['b'])
})
