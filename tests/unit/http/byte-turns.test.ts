import { describe, expect, test } from 'vitest'
import { createByteTurns } from '../../../src/server/http/byte-turns.ts'

/** Work that ends when it is told to. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let isRunning = false
  const run = (): Promise<string> => {
    isRunning = true
    return promise
  }
  return { run, resolve, reject, isRunning: () => isRunning }
}

const settled = () => new Promise(setImmediate)

describe('work that sends bytes', () => {
  test('runs together up to the bound; what is larger runs alone', async () => {
    const turns = createByteTurns(100)
    const [one, two, three, large] = [work(), work(), work(), work()]
    const first = turns.run('a', 60, one.run)
    for (const [bytes, { run }] of [
      [40, two],
      [1, three],
      [500, large],
    ] as const)
      void turns.run('a', bytes, run)
    await settled()
    expect([one, two, three, large].map(({ isRunning }) => isRunning())).toEqual([true, true, false, false])
    one.resolve('done')
    expect(await first).toBe('done')
    await settled()
    expect([three, large].map(({ isRunning }) => isRunning())).toEqual([true, false])
    two.resolve('')
    three.resolve('')
    await settled()
    expect(large.isRunning()).toBe(true)
  })

  test('of one client waits while another one has its turn, and a large one is not passed by for ever', async () => {
    const turns = createByteTurns(100)
    const greedy = Array.from({ length: 10 }, work)
    for (const { run } of greedy) void turns.run('greedy', 100, run)
    const [honest, small] = [work(), work()]
    void turns.run('honest', 100, honest.run)
    void turns.run('other', 1, small.run)
    greedy[0]?.resolve('')
    await settled()
    expect([greedy[1], honest, small].map((each) => each?.isRunning())).toEqual([true, false, false])
    greedy[1]?.resolve('')
    await settled()
    expect([greedy[2], honest, small].map((each) => each?.isRunning())).toEqual([false, true, false])
  })

  test('that fails gives its bytes back', async () => {
    const turns = createByteTurns(100)
    const [one, next] = [work(), work()]
    const failing = turns.run('a', 100, one.run)
    void turns.run('b', 100, next.run)
    one.reject(new Error('full'))
    await expect(failing).rejects.toThrow('full')
    await settled()
    expect(next.isRunning()).toBe(true)
  })
})
