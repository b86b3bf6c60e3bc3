import { describe, expect, test } from 'vitest'
import { WholeAttempts } from '../../../src/server/routes/render/whole-attempts.ts'

function attempts() {
  const clock = { now: 0 }
  const whole = new WholeAttempts(() => clock.now)
  const asked = (url: string, mayBeShared: boolean) => {
    const [pathname = '', query] = url.split('?')
    const search = query === undefined ? '' : `?${query}`
    const clientAddress = { address: '192.0.2.1' } as never
    return { route: '/page', pathname, search, clientAddress, mayBeShared: () => mayBeShared }
  }
  /** Asks for a document, and notes whether it was whole if it was tried. */
  const ask = (url: string, isWhole: boolean, mayBeShared = true): boolean => {
    const isTried = whole.isWorth(asked(url, mayBeShared))
    if (isTried) whole.note(isWhole, asked(url, mayBeShared))
    return isTried
  }
  return { ask, clock }
}

describe('a document that has suspended', () => {
  test('is tried again after a minute, because a lazy component is loaded by then', () => {
    const { ask, clock } = attempts()
    expect([ask('/a?tab=chart', false), ask('/a?tab=chart', true)]).toEqual([true, false])
    clock.now = 60_000
    expect(ask('/a', true)).toBe(false)
    clock.now = 120_000
    for (let n = 0; n < 15; n += 1) ask('/a', true)
    expect(ask('/a?tab=chart', true)).toBe(true)
  })

  test('does not decide for other URLs of a route that has been whole', () => {
    const { ask } = attempts()
    ask('/a', true)
    ask('/a?tab=chart', false)
    expect([ask('/a?tab=chart', false), ask('/a', true), ask('/b', true)]).toEqual([false, true, true])
  })

  test('does not decide for long, if it was the first of its route', () => {
    const { ask } = attempts()
    ask('/a?tab=chart', false)
    const tried = Array.from({ length: 40 }, (_, n) => [ask('/a?tab=chart', false), ask(`/a?x=${n}`, true)])
    expect(tried.every(([chart]) => chart === false)).toBe(true)
    expect(tried.findIndex(([, other]) => other)).toBe(15)
    expect(tried.slice(15).every(([, other]) => other)).toBe(true)
  })

  test('for somebody who is signed in decides for no document that may be shared', () => {
    const { ask } = attempts()
    expect(ask('/a', false, false)).toBe(true)
    expect([ask('/a', false, false), ask('/b', false, false), ask('/a', true)]).toEqual([false, false, true])
  })

  test('of a URL decides for no other one, whether it may be shared or not', () => {
    const { ask } = attempts()
    for (const mayBeShared of [false, true]) {
      ask('/a', true, mayBeShared)
      ask('/a?x=1', false, mayBeShared)
      expect([ask('/a?x=1', true, mayBeShared), ask('/a', true, mayBeShared)]).toEqual([false, true])
    }
  })
})

test('a route that always suspends is tried for one request in sixteen', () => {
  const { ask } = attempts()
  const tried = Array.from({ length: 161 }, (_, n) => ask(`/${n}`, false))
  expect(tried.filter(Boolean)).toHaveLength(11)
})
