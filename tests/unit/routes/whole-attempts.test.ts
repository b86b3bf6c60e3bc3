import { describe, expect, test } from 'vitest'
import { WholeAttempts } from '../../../src/server/routes/render/whole-attempts.ts'

function attempts() {
  const clock = { now: 0 }
  const whole = new WholeAttempts(() => clock.now)
  const asked = (url: string, personal?: string) => {
    const [pathname = '', query] = url.split('?')
    const search = query === undefined ? '' : `?${query}`
    return {
      pathname,
      search,
      audience: { guarded: false, personal },
      clientAddress: { address: '192.0.2.1' },
    } as never
  }
  /** Asks for a document, and notes whether it was whole if it was tried. */
  const ask = (url: string, isWhole: boolean, personal?: string): boolean => {
    const isTried = whole.isWorth('/page', asked(url, personal))
    if (isTried) whole.note('/page', isWhole, asked(url, personal))
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

  test('for a visitor of whom something is known decides for such visitors alone', () => {
    const { ask } = attempts()
    expect(ask('/a', false, 'cookie')).toBe(true)
    expect([ask('/a?x=1', false, 'cookie'), ask('/a', true)]).toEqual([false, true])
  })
})

test('a route that always suspends is tried for one request in sixteen', () => {
  const { ask } = attempts()
  const tried = Array.from({ length: 161 }, (_, n) => ask(`/${n}`, false))
  expect(tried.filter(Boolean)).toHaveLength(11)
})
