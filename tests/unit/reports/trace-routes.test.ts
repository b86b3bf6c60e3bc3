import { withScope, type BrowserClient, type Scope, type Span } from '@sentry/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { traceNavigations, traceRestores, type TracedPage } from '../../../src/client/reports/trace-routes.ts'
import type { NavigateEvent, Router } from '../../../src/client/react/router-types.ts'
import { RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'

const MILL: TracedPage = { route: '/mills/[id]', outcome: undefined }

beforeEach(() => void vi.stubGlobal('location', { origin: 'https://mill.example', pathname: '/' }))
afterEach(() => void vi.unstubAllGlobals())

/** A router whose navigations the test tells of, and what the SDK makes of them. */
function followed(rate: number) {
  const listeners: ((event: NavigateEvent) => void)[] = []
  const spans: string[] = []
  const statuses: string[] = []
  const load = { setStatus: ({ message }: { message: string }) => void statuses.push(message) } as unknown as Span
  const client = {
    emit: (what: string, span?: { name?: string }) => {
      if (what === 'startNavigationSpan') spans.push(span?.name ?? '')
    },
    getDataCollectionOptions: () => ({ urlQueryParams: false }),
  } as unknown as BrowserClient
  const router = { onNavigate: (listener: (event: NavigateEvent) => void) => void listeners.push(listener) }
  const refused = traceNavigations(client, router as unknown as Router, () => MILL, { rate, load })
  const tell = (type: NavigateEvent['type'], reason?: unknown): void => {
    const event = { type, kind: 'push', from: '/', to: '/mills/7?key=1', duration: 0, reason } as const
    for (const listener of listeners) listener(event)
  }
  return { spans, statuses, refused, tell }
}

const nameOf = (scope: Scope): unknown => scope.getScopeData().transactionName

describe('a navigation', () => {
  test('of a page that may be traced begins a span', () => {
    withScope((scope) => {
      const { spans, tell } = followed(0.05)
      tell('start')
      expect([spans, nameOf(scope)]).toEqual([['/mills/7'], '/mills/7'])
    })
  })

  test('of a page that never is begins none; failures are reported by its name, in a trace of its own', () => {
    withScope((scope) => {
      const { spans, tell } = followed(0)
      const traces = new Set([scope.getPropagationContext().traceId])
      tell('start')
      expect(nameOf(scope)).toBe('/mills/7')
      tell('commit')
      expect(nameOf(scope)).toBe('/mills/[id]')
      traces.add(scope.getPropagationContext().traceId)
      tell('start')
      traces.add(scope.getPropagationContext().traceId)
      expect([spans, traces.size]).toEqual([[], 3])
    })
  })
})

describe('a page that has been shown already', () => {
  test('and turns out to be missing is traced as what is not reported', () => {
    const { statuses, refused } = followed(1)
    refused(new RefusalSignal('notFound'))
    expect(statuses).toEqual(['not_found'])
  })

  test('and leads elsewhere, likewise: once, and before the next one begins', () => {
    withScope(() => {
      const { statuses, spans, refused, tell } = followed(1)
      tell('start', 'redirect')
      refused(new RedirectSignal('/mills/7', 307))
      expect([statuses, spans]).toEqual([['cancelled'], ['/mills/7']])
    })
  })

  test('and is left by a click is traced', () => {
    withScope(() => {
      const { statuses, tell } = followed(1)
      tell('start')
      expect(statuses).toEqual([])
    })
  })
})

describe('a page that the browser has kept as it was left', () => {
  const comeBack = (page: TracedPage, persisted: boolean) => {
    const begun: { name?: string }[] = []
    const client = {
      emit: (what: string, span: { name?: string }) => {
        if (what === 'startNavigationSpan') begun.push(span)
      },
      getDataCollectionOptions: () => ({ urlQueryParams: false }),
    } as unknown as BrowserClient
    const window = new EventTarget()
    traceRestores(window, client, () => page)
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }))
    return begun
  }

  test('is traced when it comes back, by the pattern of its route', () => {
    withScope(() => {
      expect(comeBack(MILL, true)).toMatchObject([
        { name: '/mills/[id]', attributes: { 'browser.navigation.type': 'back-forward-cache' } },
      ])
    })
  })

  test('is told from one that is loaded, whose span has begun already', () => {
    withScope(() => expect(comeBack(MILL, false)).toEqual([]))
  })
})
