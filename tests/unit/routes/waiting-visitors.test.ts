import { expect, test } from 'vitest'
import type { RequestContext } from '../../../src/server/request/context.ts'
import { createWaitingVisitors } from '../../../src/server/routes/kept/waiting-visitors.ts'

/** A request of a client, and how it leaves. */
function requestOf(address: string, headerBytes = 100) {
  const left = new Set<() => void>()
  const context = {
    clientAddress: { address },
    req: { rawHeaders: ['a', 'x'.repeat(headerBytes)] },
    onAbort: (listener: () => void) => void left.add(listener),
  } as unknown as RequestContext
  return { context, leave: () => left.forEach((listener) => listener()) }
}

test('those who wait for pages in the making are bounded, by client too, until it ends or they leave', async () => {
  const visitors = createWaitingVisitors()
  const over = Promise.withResolvers<void>()
  const waits = []
  let refused = 0
  for (let index = 0; index < 10_000; index += 1) {
    const waiting = visitors.wait(requestOf(`10.0.${index % 8}.1`).context, over.promise)
    if (waiting === undefined) refused += 1
    else waits.push(waiting)
  }
  expect([visitors.waiting, refused]).toEqual([3_555, 6_445])
  over.resolve()
  await Promise.all(waits)
  expect(visitors.waiting).toBe(0)
  for (let index = 0; index < 10_000; index += 1)
    void visitors.wait(requestOf('10.0.0.1').context, new Promise(() => undefined))
  expect(visitors.waiting).toBe(2_000)
  expect(visitors.wait(requestOf('10.0.0.2').context, new Promise(() => undefined))).toBeDefined()
})

test('large heads count for more, and a visitor that leaves counts no longer', async () => {
  const visitors = createWaitingVisitors()
  const never = new Promise<void>(() => undefined)
  const requests = Array.from({ length: 4_000 }, (_, index) => requestOf(`10.0.${index % 8}.1`, 15_000))
  const waits = requests.map(({ context }) => visitors.wait(context, never))
  expect(visitors.waiting).toBeLessThan(1_100)
  requests.forEach(({ leave }) => leave())
  await Promise.all(waits)
  expect(visitors.waiting).toBe(0)
})
