import { describe, expect, test } from 'vitest'
import { createRenderTurns, type Turn, type TurnRequest } from '../../../src/server/request/admission/render-turns.ts'

async function hops(count: number): Promise<void> {
  for (let hop = 0; hop < count; hop += 1) await Promise.resolve()
}

/** Turns on a clock that stands still, and an event loop that goes round when it is told. */
function setUp() {
  const clock = { now: 0 }
  const loop: (() => void)[] = []
  const afterwards = (run: () => void): void => void hops(5).then(run)
  const turns = createRenderTurns({ now: () => clock.now, nextTurn: (run) => loop.push(run), afterwards })
  const order: string[] = []
  /** Asks for a turn and works for so long, in the continuation. */
  const render = (name: string, milliseconds: number, request: Partial<TurnRequest> = {}) => {
    const work = (turn: Turn): void => {
      order.push(turn === 'now' ? name : `${name} late`)
      if (turn === 'now') clock.now += milliseconds
    }
    const turn = turns.take({ requestClass: 'document', client: '203.0.113.9', isGone: () => false, ...request })
    if (turn instanceof Promise) void turn.then(work)
    else work(turn)
  }
  const settle = (): Promise<void> => hops(500)
  /**
   * Goes round until somebody has had a turn, or there is nothing left to do.
   * @param otherWorkMs in each round, such as handlers of a client with many connections.
   * @returns how often.
   */
  const nextTurn = async (otherWorkMs = 0): Promise<number> => {
    const before = order.length
    let rounds = 0
    for (let run = loop.shift(); run !== undefined; run = loop.shift()) {
      rounds += 1
      clock.now += otherWorkMs
      run()
      await settle()
      if (order.length > before) break
    }
    return rounds
  }
  return { clock, turns, order, render, nextTurn }
}

describe('pages', () => {
  test('get their turn at once while nobody has kept the event loop for long', () => {
    const { order, render } = setUp()
    render('a', 10)
    render('b', 10)
    expect(order).toEqual(['a', 'b'])
  })

  test('that take more than 25 ms let the event loop go round between them, once for each millisecond', async () => {
    const { order, render, nextTurn, turns } = setUp()
    for (const name of ['a', 'b', 'c', 'd', 'e']) render(name, 15)
    expect(order).toEqual(['a', 'b'])
    expect(turns.waiting).toBe(3)
    expect(await nextTurn()).toBe(31)
    expect(order).toHaveLength(4)
    expect(await nextTurn()).toBe(31)
    expect(turns.waiting).toBe(0)
  })

  test('for which others wait, too, have their turn in the line of each, and one turn', async () => {
    const { order, render, nextTurn, turns } = setUp()
    const followers: ((client: string) => void)[] = []
    const ofA = { client: 'a', loaded: true }
    for (let n = 0; n < 9; n += 1) render(`a${n}`, 30, ofA)
    const followClients = (listener: (client: string) => void): void => void followers.push(listener)
    render('for all', 30, { ...ofA, followClients })
    render('c0', 30, { client: 'c', loaded: true })
    // The first of them is the one who has asked for the turn.
    for (const client of ['a', 'b', 'd']) followers[0]?.(client)
    expect([order, turns.waiting]).toEqual([['a0'], 10])
    while (turns.waiting > 0) await nextTurn()
    expect(order).toEqual(['a0', 'c0', 'a1', 'for all', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8'])
    // Nothing of it is left in the other lines.
    followers[0]?.('e')
    for (let n = 0; n < 3; n += 1) render(`b${n}`, 30, { client: 'b', loaded: true })
    while (turns.waiting > 0) await nextTurn()
    expect(order.slice(-3)).toEqual(['b0', 'b1', 'b2'])
  })

  test('wait no longer than their batch took while other work fills each round', async () => {
    const { order, render, nextTurn } = setUp()
    for (const name of ['a', 'b', 'c']) render(name, 30)
    expect(order).toEqual(['a'])
    expect(await nextTurn(20)).toBeLessThanOrEqual(4)
    expect(order).toEqual(['a', 'b'])
  })

  test('wait for one round between their batches while other work makes each round long', async () => {
    const { order, render, nextTurn } = setUp()
    for (let index = 0; index < 60; index += 1) render(String(index), 2)
    expect(order).toHaveLength(13)
    // The first batch has begun among that work.
    expect(await nextTurn(150)).toBeLessThanOrEqual(3)
    const before = order.length
    expect(await nextTurn(150)).toBe(2)
    expect(order.length - before).toBe(13)
  })

  test('of one batch begin when the one before has done all that it can', async () => {
    const { order, render, nextTurn, turns } = setUp()
    render('first', 30)
    for (const name of ['a', 'b']) {
      const turn = turns.take({ requestClass: 'document', client: '203.0.113.9', isGone: () => false })
      void Promise.resolve(turn).then(async () => {
        order.push(`${name} begins`)
        await hops(3)
        order.push(`${name} is done`)
      })
    }
    await nextTurn()
    expect(order).toEqual(['first', 'a begins', 'a is done', 'b begins', 'b is done'])
  })

  test('of one batch begin so by the event loop of the process, too', async () => {
    const clock = { now: 0 }
    const turns = createRenderTurns({ now: () => clock.now })
    const order: string[] = []
    const render = async (name: string): Promise<void> => {
      await turns.take({ requestClass: 'document', client: '203.0.113.9', isGone: () => false })
      order.push(`${name} begins`)
      clock.now += 5
      await hops(20)
      order.push(`${name} is done`)
    }
    await turns.take({ requestClass: 'document', client: '203.0.113.9', isGone: () => false })
    clock.now = 30 // this turn of the loop has lasted long enough
    const names = ['a', 'b', 'c']
    await Promise.all(names.map(render))
    expect(order).toEqual(names.flatMap((name) => [`${name} begins`, `${name} is done`]))
  })

  test('that are slow come one by one, and never wait for more than 50 rounds', async () => {
    const { order, render, nextTurn } = setUp()
    const sizes: number[] = []
    for (let index = 0; index < 60; index += 1) render(String(index), 100)
    for (let turn = 0; turn < 8; turn += 1) {
      const before = order.length
      expect(await nextTurn()).toBe(51)
      sizes.push(order.length - before)
    }
    expect(sizes).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
  })

  test('that are quick come 16 at once, also after slow ones', async () => {
    const { order, render, nextTurn } = setUp()
    for (let index = 0; index < 10; index += 1) render('slow', 100)
    while (order.length < 10) await nextTurn()
    await nextTurn()
    const sizes: number[] = []
    for (let index = 0; index < 60; index += 1) render('quick', 0)
    sizes.push(order.length - 10)
    while (order.length < 70) {
      const before = order.length
      await nextTurn()
      sizes.push(order.length - before)
    }
    expect(sizes).toEqual([16, 16, 16, 12])
  })

  test('with their data go first, then documents, then data, then prefetches', async () => {
    const { order, render, nextTurn } = setUp()
    render('first', 30)
    render('guess', 30, { requestClass: 'prefetch' })
    render('data', 30, { requestClass: 'data' })
    render('page', 30)
    render('guess with its data', 30, { requestClass: 'prefetch', loaded: true })
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    expect(order).toEqual(['first', 'guess with its data', 'page', 'data', 'guess'])
  })

  test('of two clients with many documents leave turns to data, and a few to prefetches', async () => {
    const { order, render, nextTurn } = setUp()
    render('first', 30)
    const greedy = (name: string): void => {
      for (const client of ['198.51.100.7', '198.51.100.8']) {
        render(name, 30, { client })
        render(name, 30, { client, loaded: true })
      }
    }
    for (let index = 0; index < 20; index += 1) greedy('greedy')
    for (let index = 0; index < 5; index += 1) render('data', 30, { requestClass: 'data' })
    render('guess', 30, { requestClass: 'prefetch', client: '203.0.113.10' })
    while (order.length < 40) await nextTurn()
    const turns = order.slice(1)
    const gaps = turns
      .flatMap((name, at) => (name === 'data' ? [at] : []))
      .map((at, nth, all) => at - (all[nth - 1] ?? -1))
    expect(gaps).toHaveLength(5)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5)
    expect(turns.indexOf('guess')).toBeLessThanOrEqual(18)
  })

  test.for([
    ['prefetch', 1000],
    ['data', 4_000],
    ['document', 10_000],
  ] as const)('of kind %s that have waited more than %d ms are refused', async ([requestClass, deadline]) => {
    for (const [waited, expected] of [
      [deadline, 'x'],
      [deadline + 1, 'x late'],
    ] as const) {
      const { clock, order, render, nextTurn } = setUp()
      render('first', 30)
      render('x', 0, { requestClass })
      clock.now = waited + 30
      await nextTurn()
      expect(order).toEqual(['first', expected])
    }
  })

  test('whose client has gone take nobody else’s turn', async () => {
    const { order, render, nextTurn } = setUp()
    render('first', 30)
    render('gone', 30, { isGone: () => true })
    render('second', 1)
    await nextTurn()
    expect(order).toEqual(['first', 'gone late', 'second'])
  })

  test('of one client, however many, take no turn of another one in a row', async () => {
    const { order, render, nextTurn } = setUp()
    const greedy = { client: '198.51.100.7' }
    render('first', 30, greedy)
    for (let index = 0; index < 20; index += 1) {
      render('greedy', 30, greedy)
      render('greedy, loaded', 30, { ...greedy, loaded: true })
    }
    render('page', 30)
    render('data', 30, { requestClass: 'data' })
    render('guess', 30, { requestClass: 'prefetch' })
    while (order.length < 44) await nextTurn()
    expect(order.slice(0, 8)).toEqual([
      'first',
      'page',
      'greedy, loaded',
      'data',
      'greedy, loaded',
      'guess',
      'greedy, loaded',
      'greedy, loaded',
    ])
  })

  test('of several clients come in turns, those of each in order', async () => {
    const { order, render, nextTurn } = setUp()
    render('first', 30)
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) render(name, 30, { client: name.slice(0, 1) })
    while (order.length < 7) await nextTurn()
    expect(order.slice(1)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('tell how long somebody has waited, still waiting or not, since it was last asked', async () => {
    const { clock, render, nextTurn, turns } = setUp()
    expect(turns.waits().longestMs).toBe(0)
    render('first', 30)
    render('second', 0)
    clock.now += 70
    expect(turns.waits().longestMs).toBe(70)
    clock.now += 30
    await nextTurn()
    expect(turns.waits().longestMs).toBe(100)
    expect(turns.waits().longestMs).toBe(0)
  })

  test('tell apart what a client waits for others, and what it waits for itself', async () => {
    const { turns, order, render, nextTurn } = setUp()
    const GREEDY = ['198.51.100.7', '198.51.100.8', '198.51.100.9']
    render('first', 30)
    for (let index = 0; index < 20; index += 1) {
      for (const client of GREEDY) render('greedy', 30, { client })
    }
    for (let round = 0; order.length < 61; round += 1) {
      await nextTurn()
      if (round % 10 === 5) expect(turns.waits().gapMs).toBeLessThanOrEqual(3 * 60)
    }
    render('first', 30)
    for (const client of GREEDY) for (let index = 0; index < 5; index += 1) render('greedy', 30, { client })
    render('newcomer', 0)
    while (order.length < 70) await nextTurn()
    const { longestMs, gapMs } = turns.waits()
    expect(longestMs).toBeGreaterThan(2 * gapMs)
    expect(gapMs).toBeGreaterThan(0)
  })

  test('are told from those of another turn by its number', async () => {
    const { render, nextTurn, turns } = setUp()
    render('a', 1)
    const { number } = turns
    render('b', 1)
    expect(turns.number).toBe(number)
    await nextTurn()
    expect(turns.number).not.toBe(number)
  })
})
