import { withScope, type BrowserClient, type Scope } from '@sentry/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { traceNavigations, type TracedPage } from '../../../src/client/reports/trace-routes.ts'
import type { NavigateEvent, Router } from '../../../src/client/router-types.ts'

const MILL: TracedPage = { route: '/mills/[id]', outcome: undefined }

beforeEach(() => void vi.stubGlobal('location', { origin: 'https://mill.example', pathname: '/' }))
afterEach(() => void vi.unstubAllGlobals())

/** A router whose navigations the test tells of, and what the SDK makes of them. */
function followed(rate: number) {
  const listeners: ((event: NavigateEvent) => void)[] = []
  const spans: string[] = []
  const client = {
    emit: (what: string, span?: { name?: string }) => {
      if (what === 'startNavigationSpan') spans.push(span?.name ?? '')
    },
    getDataCollectionOptions: () => ({ urlQueryParams: false }),
  } as unknown as BrowserClient
  const router = { onNavigate: (listener: (event: NavigateEvent) => void) => void listeners.push(listener) }
  traceNavigations(client, router as unknown as Router, () => MILL, rate)
  const tell = (type: NavigateEvent['type']): void => {
    for (const listener of listeners) listener({ type, kind: 'push', from: '/', to: '/mills/7?key=1', duration: 0 })
  }
  return { spans, tell }
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
