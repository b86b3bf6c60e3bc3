import { array, assert, constantFrom, integer, oneof, property, record } from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { expect, test } from 'vitest'
import { IDLE, reduceNavigation } from '../../../src/client/core/navigation/navigation.ts'
import type { Navigation, NavigationEvent, NavigationTarget } from '../../../src/client/core/navigation/navigation.ts'

const target: NavigationTarget = { id: 1, kind: 'push', href: '/a?b=c#d', since: 5 }
const other: NavigationTarget = { id: 2, kind: 'traverse', href: '/other', since: 9 }
const reason = new Error('offline')

const STATES = {
  idle: IDLE,
  loading: { state: 'loading', target, slow: false },
  'slow loading': { state: 'loading', target, slow: true },
  committing: { state: 'committing', target, slow: false },
  'slow committing': { state: 'committing', target, slow: true },
  cancelled: { state: 'cancelled', target },
  failed: { state: 'failed', target, reason },
} satisfies Record<string, Navigation>

const EVENTS = {
  start: { type: 'start', target: other },
  slow: { type: 'slow', id: 1 },
  load: { type: 'load', id: 1 },
  commit: { type: 'commit', id: 1 },
  cancel: { type: 'cancel', id: 1 },
  fail: { type: 'fail', id: 1, reason },
  leave: { type: 'leave', id: 1 },
} satisfies Record<string, NavigationEvent>

const { committing, cancelled, failed } = STATES
const started: Navigation = { state: 'loading', target: other, slow: false }
const slowLoading = STATES['slow loading']
const slowCommitting = STATES['slow committing']
const same = 'same'

/** The table in the head of `navigation.ts`: start, slow, load, commit, cancel, fail, leave. */
const TABLE: Record<keyof typeof STATES, readonly (Navigation | 'same')[]> = {
  idle: [started, same, same, same, same, same, same],
  loading: [started, slowLoading, committing, same, cancelled, failed, IDLE],
  'slow loading': [started, same, slowCommitting, same, cancelled, failed, IDLE],
  committing: [started, slowCommitting, same, IDLE, cancelled, failed, IDLE],
  'slow committing': [started, same, same, IDLE, cancelled, failed, IDLE],
  cancelled: [started, same, same, same, same, same, same],
  failed: [started, same, same, same, same, same, same],
}

const pairs = Object.entries(TABLE).flatMap(([state, row]) =>
  Object.entries(EVENTS).map(([event, value], at) => {
    const before: Navigation = STATES[state as keyof typeof STATES]
    return { state, event, value, before, after: row[at] }
  }),
)

test.for(pairs)('$event while $state', ({ before, value, after }) => {
  const next = reduceNavigation(before, value)
  if (after === same) expect(next).toBe(before)
  else expect(next).toEqual(after)
})

const news = pairs.flatMap((pair) => (pair.value.type === 'start' ? [] : [{ ...pair, value: pair.value }]))

test.for(news)('late news of an overtaken navigation, $event while $state, changes nothing', ({ before, value }) => {
  expect(reduceNavigation(before, { ...value, id: 7 })).toBe(before)
})

test.each([slowLoading, slowCommitting])('a redirect that is followed stays pending: no flicker', (before) => {
  const redirected = { ...target, href: '/landed' }
  expect(reduceNavigation(before, { type: 'start', target: redirected })).toEqual({
    state: 'loading',
    target: redirected,
    slow: true,
  })
})

test('a second click begins anew: it is not pending at once because the first one was', () => {
  expect(reduceNavigation(slowLoading, { type: 'start', target: other })).toMatchObject({ target: other, slow: false })
})

test('whatever happens in whatever order, the page waits for the last start only, and only news of it count', () => {
  const id = integer({ min: 1, max: 3 })
  const event: Arbitrary<NavigationEvent> = oneof(
    id.map((id) => ({ type: 'start' as const, target: { ...target, id } })),
    record({ type: constantFrom('slow', 'load', 'commit', 'cancel'), id }),
    id.map((id) => ({ type: 'fail' as const, id, reason })),
  )
  assert(
    property(array(event), (list) => {
      let navigation: Navigation = IDLE
      let last = 0
      for (const event of list) {
        const before: Navigation = navigation
        navigation = reduceNavigation(before, event)
        if (event.type === 'start') last = event.target.id
        const running = before.state === 'loading' || before.state === 'committing'
        const counts = event.type === 'start' || (running && event.id === last)
        expect(navigation === before || counts).toBe(true)
        expect(navigation.state === 'idle' ? last : navigation.target.id).toBe(last)
        const finished = navigation.state === 'idle' && before.state !== 'idle'
        expect(finished).toBe(before.state === 'committing' && event.type === 'commit' && event.id === last)
      }
    }),
  )
})
