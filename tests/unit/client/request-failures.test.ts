import { expect, test } from 'vitest'
import type { DevFailure } from '../../../src/client/dev/dev-messages.ts'
import { createRequestFailures } from '../../../src/client/dev/request-failures.ts'
import type { RouterInsight } from '../../../src/client/inspect/router-insight.ts'

const failure = (url: string, prefetch = false): DevFailure => ({
  kind: 'server',
  message: 'no order',
  frames: [],
  request: { id: url, method: 'GET', url, ...(prefetch ? { prefetch } : {}) },
})

/** A page of a router that can be moved. */
function openPage() {
  const shown: (string | undefined)[] = []
  const listeners = new Set<() => void>()
  const clock = { now: 100_000 }
  const screen = { href: '/', page: {}, view: {}, fallback: undefined as object | undefined }
  const navigations: { id: number; to: string; endedAt?: number }[] = []
  const failures = createRequestFailures(
    ({ cause }) => void shown.push(cause),
    () => clock.now,
  )
  failures.found({ router: { screen }, journal: { navigations } } as unknown as RouterInsight, {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  const go = (href: string, fallback?: object): void => {
    Object.assign(screen, { href, fallback })
    for (const listener of listeners) listener()
  }
  return { shown, clock, navigations, failures, go }
}

test('failures of one navigation, and of what a save has fetched again, have one cause each', () => {
  const { shown, clock, navigations, failures, go } = openPage()
  navigations.push({ id: 1, to: '/orders/13#top' })
  for (const url of ['/orders/13', '/orders/13', '/elsewhere']) failures.add(failure(url))
  expect(shown.splice(0)).toEqual(['navigation 1', 'navigation 1', undefined])
  Object.assign(navigations[0] ?? {}, { endedAt: clock.now })
  go('/orders/13')
  clock.now += 5_000
  failures.add(failure('/orders/13')) // polled
  failures.changed()
  clock.now += 2_000
  failures.add(failure('/orders/13'))
  expect(shown).toEqual([undefined, 'change 105000'])
})

test('the failure of a prefetch is shown where its page is opened and has failed, unless a save came between', () => {
  const { shown, failures, go } = openPage()
  failures.add(failure('/orders/13', true))
  go('/orders/1')
  go('/orders/13')
  expect(shown).toHaveLength(0)
  go('/orders/13', {})
  go('/orders/13', {})
  expect(shown).toHaveLength(1)
  failures.add(failure('/orders/14', true))
  failures.changed()
  go('/orders/14', {})
  expect(shown).toHaveLength(1)
})
