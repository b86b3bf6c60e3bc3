import { describe, expect, test } from 'vitest'
import { createRenderTurns, type Turn } from '../../../src/server/ops/render-turns.ts'

/** Turns on a clock that stands still, and an event loop that turns when it is told. */
function setUp() {
  const clock = { now: 0 }
  const loop: (() => void)[] = []
  const turns = createRenderTurns({ now: () => clock.now, nextTurn: (run) => loop.push(run) })
  const order: string[] = []
  /** Asks for a turn and renders for so long, in the continuation. */
  const render = (name: string, milliseconds: number, kind: 'prefetch' | 'data' | 'document' = 'document') => {
    const work = (turn: Turn): void => {
      order.push(turn === 'now' ? name : `${name} late`)
      if (turn === 'now') clock.now += milliseconds
    }
    const turn = turns.take(kind, () => false)
    if (turn instanceof Promise) void turn.then(work)
    else work(turn)
  }
  const nextTurn = async (): Promise<void> => {
    loop.shift()?.()
    // Continuations of the continuations.
    for (let hop = 0; hop < 100; hop += 1) await Promise.resolve()
  }
  return { clock, turns, order, render, nextTurn }
}

describe('renders', () => {
  test('begin at once while nobody has kept the event loop for long', () => {
    const { order, render } = setUp()
    render('a', 10)
    render('b', 10)
    expect(order).toEqual(['a', 'b'])
  })

  test('of more than 25 ms wait for the next turn of the event loop, in order', async () => {
    const { order, render, nextTurn, turns } = setUp()
    for (const name of ['a', 'b', 'c', 'd', 'e']) render(name, 15)
    expect(order).toEqual(['a', 'b'])
    expect(turns.waiting).toBe(3)
    await nextTurn()
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    await nextTurn()
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(turns.waiting).toBe(0)
  })

  test('that cost nothing at first sight are 16 a turn: streams do their work later', async () => {
    const { order, render, nextTurn } = setUp()
    for (let index = 0; index < 40; index += 1) render(String(index), 0)
    expect(order).toHaveLength(16)
    await nextTurn()
    expect(order).toHaveLength(32)
    await nextTurn()
    expect(order).toHaveLength(40)
  })

  test('of documents go before data, and data before prefetches', async () => {
    const { order, render, nextTurn } = setUp()
    render('first', 30)
    render('guess', 30, 'prefetch')
    render('data', 30, 'data')
    render('page', 30)
    for (let turn = 0; turn < 4; turn += 1) await nextTurn()
    expect(order).toEqual(['first', 'page', 'data', 'guess'])
  })

  test.for([
    ['prefetch', 300],
    ['data', 1_200],
    ['document', 3_000],
  ] as const)('of kind %s that have waited more than %d ms are not begun', async ([kind, deadline]) => {
    for (const [waited, expected] of [
      [deadline, 'x'],
      [deadline + 1, 'x late'],
    ] as const) {
      const { clock, order, render, nextTurn } = setUp()
      render('first', 30)
      render('x', 0, kind)
      clock.now = waited + 30
      await nextTurn()
      expect(order).toEqual(['first', expected])
    }
  })

  test('whose client has gone take nobody else’s turn', async () => {
    const { order, render, nextTurn, turns } = setUp()
    render('first', 30)
    let told: Turn | undefined
    void Promise.resolve(turns.take('document', () => true)).then((turn) => (told = turn))
    render('second', 1)
    await nextTurn()
    expect(order).toEqual(['first', 'second'])
    expect(told).toBe('late')
  })

  test('tell how long somebody has waited, still waiting or not, since it was last asked', async () => {
    const { clock, render, nextTurn, turns } = setUp()
    expect(turns.longestWaitMs()).toBe(0)
    render('first', 30)
    render('second', 0)
    clock.now += 70
    expect(turns.longestWaitMs()).toBe(70)
    clock.now += 30
    await nextTurn()
    expect(turns.longestWaitMs()).toBe(100)
    expect(turns.longestWaitMs()).toBe(0)
  })
})
