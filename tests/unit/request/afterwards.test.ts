import { expect, test } from 'vitest'
import { createAfterwards } from '../../../src/server/request/answer/afterwards.ts'
import type { RequestContext } from '../../../src/server/request/context.ts'

/** Work after the answers of clients, by address, that ends when it is told to. */
function world(mostRunning: number, mostWaiting: number) {
  const afterwards = createAfterwards(mostRunning, mostWaiting)
  const begun: string[] = []
  const failed: unknown[] = []
  const ends = new Map<string, () => void>()
  const log = { error: ({ err }: { readonly err: { readonly type: string } }) => failed.push(err.type) }
  return {
    afterwards,
    begun,
    failed,
    leave(client: string, name: string): void {
      const context = { clientAddress: { address: client }, reported: new Set(), log, record: {}, req: {}, res: {} }
      afterwards.run(
        () => {
          begun.push(name)
          return new Promise<void>((end) => ends.set(name, end))
        },
        context as unknown as RequestContext,
      )
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.()
      await new Promise(setImmediate)
    },
  }
}

const FLOOD = '192.0.2.1'

test('of one client whose work never ends, half begins; work of others begins at once', () => {
  const { leave, begun, failed } = world(8, 100)
  for (let index = 0; index < 50; index += 1) leave(FLOOD, `flood ${index}`)
  expect(begun).toHaveLength(4)
  leave('198.51.100.7', 'honest')
  expect(begun.at(-1)).toBe('honest')
  expect(failed).toEqual([])
})

test('what waits begins when there is room, a client at a time', async () => {
  const { afterwards, leave, begun, end } = world(1, 100)
  for (const name of ['a0', 'a1', 'a2']) leave(FLOOD, name)
  leave('198.51.100.7', 'b0')
  await end('a0')
  await end('a1')
  await end('b0')
  expect(begun).toEqual(['a0', 'a1', 'b0', 'a2'])
  const settled = afterwards.settled()
  await end('a2')
  await settled
})

test('beyond what may wait, work is not begun, and that is a failure of its request', async () => {
  const { leave, begun, failed, end } = world(1, 2)
  for (const name of ['a0', 'a1', 'a2', 'a3', 'a4']) leave(FLOOD, name)
  expect(failed).toEqual(['AfterwardsFullError', 'AfterwardsFullError'])
  for (const name of ['a0', 'a1', 'a2']) await end(name)
  expect(begun).toEqual(['a0', 'a1', 'a2'])
})
