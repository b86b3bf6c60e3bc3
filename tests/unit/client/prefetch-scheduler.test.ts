import { describe, expect, test } from 'vitest'
import {
  advancePrefetching,
  MAX_QUEUED,
  MAX_ROUTES,
  MAX_SEGMENTS,
  nextWake,
  NO_PREFETCHES,
  reducePrefetching,
  RETRY_BLOCK_MS,
} from '../../../src/client/core/prefetch/prefetch-scheduler.ts'
import { inPhase, NOW, phases, scheduler } from './prefetch-world.ts'

describe('limits', () => {
  test('of ten links in view five routes start, and three of them fetch data', () => {
    const { add, advance, owner } = scheduler()
    for (const target of 'abcdefghij') add(target)
    advance()
    expect(inPhase(owner.state, 'fetching')).toEqual(['a', 'b', 'c'])
    expect(inPhase(owner.state, 'started')).toEqual(['d', 'e'])
    expect(inPhase(owner.state, 'queued')).toEqual(['f', 'g', 'h', 'i', 'j'])
  })

  test('one that ends makes room for the next route, and for the next data', () => {
    const { add, advance, settle } = scheduler()
    for (const target of 'abcdefg') add(target)
    advance()
    settle('b')
    expect(advance()).toEqual(['a:fetching 1', 'c:fetching 1', 'd:fetching 1', 'e:started', 'f:started', 'g:queued'])
  })

  test('a request of two segments does not fit beside another of two', () => {
    const { add, advance, settle } = scheduler({ a: 2, b: 2 })
    add('a')
    add('b')
    expect(advance()).toEqual(['a:fetching 2', 'b:started'])
    settle('a')
    expect(advance()).toEqual(['b:fetching 2'])
  })

  test('a request of more than three segments runs alone', () => {
    const { add, advance, settle } = scheduler({ b: 5 })
    for (const target of 'abc') add(target)
    expect(advance()).toEqual(['a:fetching 1', 'b:started', 'c:started'])
    settle('a')
    expect(advance()).toEqual(['b:fetching 5', 'c:started'])
    settle('b')
    expect(advance()).toEqual(['c:fetching 1'])
  })

  test('a large request that waits is not passed by small ones behind it, or it might wait for ever', () => {
    const { add, advance } = scheduler({ a: 2, b: 3 })
    for (const target of 'abc') add(target)
    expect(advance()).toEqual(['a:fetching 2', 'b:started', 'c:started'])
  })

  test('what needs no data takes no slot and waits for none', () => {
    const { add, advance } = scheduler({ a: 3, b: 1, c: 0 })
    for (const target of 'abc') add(target)
    expect(advance()).toEqual(['a:fetching 3', 'b:started', 'c:fetching'])
  })

  test('what waits is asked again: a layout that has come meanwhile is no longer counted', () => {
    const segments: Record<string, number> = { a: 2, b: 2 }
    const { add, advance } = scheduler(segments)
    add('a')
    add('b')
    expect(advance()).toEqual(['a:fetching 2', 'b:started'])
    segments['b'] = 1
    expect(advance()).toEqual(['a:fetching 2', 'b:fetching 1'])
  })
})

describe('who goes first', () => {
  test('intent before render before viewport, and first come first within one', () => {
    const { add, advance, owner } = scheduler()
    for (const target of ['v1', 'v2']) add(target, 'viewport')
    for (const target of ['r1', 'r2']) add(target, 'render')
    for (const target of ['i1', 'i2']) add(target, 'intent')
    advance()
    expect([...owner.state.active]).toEqual(['i1', 'i2', 'r1', 'r2', 'v1'])
    expect(inPhase(owner.state, 'fetching').toSorted()).toEqual(['i1', 'i2', 'r1'])
  })

  test('a link in view that is hovered overtakes the queue', () => {
    const { add, advance, settle, owner } = scheduler({ x: 3 })
    add('x', 'intent')
    for (const target of 'abcdefg') add(target)
    advance()
    add('g', 'intent')
    settle('a')
    advance()
    // It goes past the data limit as well, and so leaves its route to the next.
    expect([...owner.state.active]).toEqual(['x', 'b', 'c', 'd', 'g', 'e'])
  })

  test('a promotion is never taken back, and adding again changes nothing', () => {
    const { add, owner } = scheduler()
    add('a', 'render')
    const before = owner.state
    for (const priority of ['render', 'viewport'] as const) {
      add('a', priority)
      expect(owner.state).toBe(before)
    }
    add('a', 'intent')
    expect(owner.state.jobs.get('a')?.priority).toBe('intent')
  })

  test('a promoted job that waits for data is served before older ones', () => {
    const { add, advance, settle } = scheduler({ a: 3 })
    for (const target of 'abc') add(target)
    add('x', 'intent')
    advance()
    add('c', 'render')
    settle('x')
    expect(advance()).toEqual(['a:started', 'b:started', 'c:fetching 1'])
    settle('c')
    expect(advance()).toEqual(['a:fetching 3', 'b:started'])
  })
})

describe('one hovered link goes past both limits', () => {
  test('when all routes are taken it starts as a sixth, and fetches', () => {
    const { add, advance } = scheduler()
    for (const target of 'abcdef') add(target)
    advance()
    add('x', 'intent')
    expect(advance().slice(-2)).toEqual(['f:queued', 'x:fetching 1 extra'])
  })

  test('when only the data slots are taken it fetches beside them', () => {
    const { add, advance } = scheduler({ a: 3, x: 4 })
    add('a')
    advance()
    add('x', 'intent')
    expect(advance()).toEqual(['a:fetching 3', 'x:fetching 4 extra'])
  })

  test('when nothing is full it counts like any other', () => {
    const { add, advance } = scheduler()
    add('x', 'intent')
    expect(advance()).toEqual(['x:fetching 1'])
  })

  test('a link that has started, waits for data and is hovered now fetches too, and its route is free for another', () => {
    const { add, advance } = scheduler({ a: 3 })
    for (const target of 'abcdef') add(target)
    advance()
    add('c', 'intent')
    expect(advance()).toEqual([
      'a:fetching 3',
      'b:started',
      'c:fetching 1 extra',
      'd:started',
      'e:started',
      'f:started',
    ])
  })

  test('only one: the next hovered link waits for it or for a place', () => {
    const { add, advance, settle } = scheduler({ a: 3 })
    for (const target of 'abcde') add(target)
    advance()
    add('x', 'intent')
    add('y', 'intent')
    expect(advance().slice(-2)).toEqual(['x:fetching 1 extra', 'y:queued'])
    settle('x')
    expect(advance().slice(-1)).toEqual(['y:fetching 1 extra'])
  })
})

describe('failures', () => {
  test('a target that failed is not fetched again for ten seconds, hovered or not', () => {
    const { add, advance, settle, owner } = scheduler()
    add('a')
    advance()
    settle('a', true)
    owner.now = NOW + RETRY_BLOCK_MS - 1
    const before = owner.state
    add('a', 'intent')
    expect(owner.state).toBe(before)
    owner.now = NOW + RETRY_BLOCK_MS
    add('a')
    expect(advance()).toEqual(['a:fetching 1'])
  })

  test('blocks are forgotten when they are over', () => {
    const { add, advance, settle, owner } = scheduler()
    for (const target of 'abc') add(target)
    advance()
    settle('a', true)
    owner.now += 1
    settle('b', true)
    owner.now = NOW + RETRY_BLOCK_MS
    settle('c')
    expect([...owner.state.blocked]).toEqual([['b', NOW + 1 + RETRY_BLOCK_MS]])
    owner.now += 1
    add('d')
    expect(owner.state.blocked.size).toBe(0)
  })

  test('late news of a prefetch that was cancelled, or has begun anew, changes nothing', () => {
    const { add, advance, settle, dispatch, owner } = scheduler()
    add('a')
    advance()
    dispatch({ type: 'cancel', target: 'a' })
    const gone = owner.state
    settle('a', true)
    expect(owner.state).toBe(gone)
    add('a')
    const anew = owner.state
    settle('a', true)
    expect(owner.state).toBe(anew)
    expect(phases(owner.state)).toEqual(['a:queued'])
  })
})

describe('a server that asks for quiet', () => {
  test('nothing starts before the time is over, a hovered link neither; what is fetching goes on', () => {
    const { add, advance, dispatch, owner } = scheduler({ a: 3 })
    for (const target of 'ab') add(target)
    advance()
    dispatch({ type: 'pause', until: NOW + 500 })
    add('x', 'intent')
    const paused = owner.state
    owner.now = NOW + 499
    expect(advance()).toEqual(['a:fetching 3', 'b:started', 'x:queued'])
    expect(owner.state).toBe(paused)
    expect(nextWake(paused)).toBe(NOW + 500)
    owner.now = NOW + 500
    expect(advance()).toEqual(['a:fetching 3', 'b:started', 'x:fetching 1 extra'])
    expect(nextWake(owner.state)).toBeUndefined()
  })

  test('a pause only grows', () => {
    const { dispatch, owner } = scheduler()
    dispatch({ type: 'pause', until: NOW + 500 })
    const before = owner.state
    dispatch({ type: 'pause', until: NOW + 400 })
    expect(owner.state).toBe(before)
    dispatch({ type: 'pause', until: NOW + 600 })
    expect(owner.state.pausedUntil).toBe(NOW + 600)
  })

  test('leaving the page does not end it, nor does it forget what failed', () => {
    const { add, advance, settle, dispatch, owner } = scheduler()
    for (const target of 'ab') add(target)
    advance()
    settle('a', true)
    dispatch({ type: 'pause', until: NOW + 500 })
    for (const target of owner.state.jobs.keys()) dispatch({ type: 'cancel', target })
    expect(owner.state).toMatchObject({ pausedUntil: NOW + 500, jobs: new Map(), active: new Set() })
    expect(owner.state.blocked.has('a')).toBe(true)
    add('c', 'intent')
    expect(advance()).toEqual(['c:queued'])
  })

  test('nobody is woken when nothing waits in the queue', () => {
    const { add, advance, dispatch, owner } = scheduler()
    expect(nextWake(owner.state)).toBeUndefined()
    for (const target of 'abcde') add(target)
    advance()
    expect(nextWake(owner.state)).toBeUndefined()
    for (const target of owner.state.jobs.keys()) dispatch({ type: 'cancel', target })
    dispatch({ type: 'pause', until: NOW + 500 })
    expect(nextWake(owner.state)).toBeUndefined()
  })
})

describe('leaving', () => {
  test.each(['queued', 'started', 'fetching'])(
    'a %s target that has left the view is forgotten, and its place is free',
    (phase) => {
      const { add, advance, dispatch, owner } = scheduler()
      for (const target of 'abcdefgh') add(target)
      advance()
      const [target = ''] = inPhase(owner.state, phase)
      dispatch({ type: 'cancel', target })
      advance()
      expect(owner.state.jobs.has(target)).toBe(false)
      expect(owner.state.active.size).toBe(MAX_ROUTES)
      expect(inPhase(owner.state, 'fetching')).toHaveLength(MAX_SEGMENTS)
      expect(owner.state.jobs.size).toBe(7)
    },
  )

  test('what is not there cannot leave', () => {
    const { dispatch, owner } = scheduler()
    dispatch({ type: 'cancel', target: 'a' })
    expect(owner.state).toBe(NO_PREFETCHES)
  })
})

describe('the queue has a bound', () => {
  test('of 2,010 links in view the oldest ten are forgotten; hovered and rendered ones stay', () => {
    const { add, owner } = scheduler()
    add('i', 'intent')
    add('r', 'render')
    for (let index = 0; index < MAX_QUEUED + 8; index += 1) add(`v${index}`)
    expect(owner.state.jobs.size).toBe(MAX_QUEUED)
    expect([...owner.state.jobs.keys()].slice(0, 4)).toEqual(['i', 'r', 'v10', 'v11'])
    expect(owner.state.jobs.has(`v${MAX_QUEUED + 7}`)).toBe(true)
  })

  test('with nothing but rendered ones the oldest of these goes; what is under way does not count', () => {
    const { add, advance, owner } = scheduler()
    for (let index = 0; index < MAX_ROUTES; index += 1) add(`x${index}`, 'render')
    advance()
    for (let index = 0; index <= MAX_QUEUED; index += 1) add(`r${index}`, 'render')
    expect(owner.state.jobs.size).toBe(MAX_QUEUED + MAX_ROUTES)
    expect(owner.state.jobs.has('r0')).toBe(false)
    expect(owner.state.jobs.has('r1')).toBe(true)
  })
})

test('the state that all begin with stays empty, whoever begins with it', () => {
  for (const event of [
    { type: 'add', target: 'a', priority: 'intent', now: NOW },
    { type: 'pause', until: NOW },
  ] as const) {
    const begun = reducePrefetching(NO_PREFETCHES, event)
    advancePrefetching(
      reducePrefetching(begun, { type: 'add', target: 'b', priority: 'render', now: NOW }),
      NOW,
      () => 1,
    )
  }
  expect(NO_PREFETCHES).toEqual({
    jobs: new Map(),
    blocked: new Map(),
    pausedUntil: 0,
    spent: [],
    queues: { intent: new Set(), render: new Set(), viewport: new Set() },
    active: new Set(),
  })
  expect(advancePrefetching(NO_PREFETCHES, NOW, () => 1)).toBe(NO_PREFETCHES)
})
