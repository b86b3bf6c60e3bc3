import { addBreadcrumb, getCurrentScope, type BrowserClient, type Scope } from '@sentry/react'
import { digestOf } from '../../shared/control-flow.ts'
import { isReportable } from '../../shared/reports/is-reportable.ts'
import type { PageFailure } from './page-reports.ts'

/** Without these a page does not work; without others it only looks wrong. */
const VITAL_ELEMENTS: ReadonlySet<string> = new Set(['script', 'link'])

/**
 * Creates the function that reports failures: each once, however often it is detected. Failures with a digest are left
 * out, because the server has reported them.
 */
export function createFailureReporter(client: BrowserClient, route: () => string | undefined) {
  const known = new WeakSet<object>()

  return (failure: PageFailure): void => {
    const { kind, thrown, message = '', filename: file = '' } = failure
    if (kind === 'resource' && !VITAL_ELEMENTS.has(file)) {
      addBreadcrumb({ category: 'resource', level: 'warning', message: `${file} did not load`, data: { url: message } })
      return
    }
    if (typeof thrown === 'object' && thrown !== null) {
      if (known.has(thrown)) return
      known.add(thrown)
    }
    if (digestOf(thrown) || (thrown !== undefined && !isReportable(thrown))) return
    const scope = scopeOf(failure, route())
    const mechanism = { type: `auto.browser.millrace.${kind}`, handled: kind === 'caught' || kind === 'recoverable' }
    if (thrown === undefined || thrown === null) client.captureEvent(plainEvent(failure, mechanism), {}, scope)
    else client.captureException(thrown, { mechanism, originalException: thrown }, scope)
  }
}

function scopeOf({ at, stack, kind }: PageFailure, route: string | undefined): Scope {
  const scope = getCurrentScope().clone()
  // React has rendered again, and the visitor has noticed nothing.
  scope.setLevel(kind === 'recoverable' ? 'warning' : 'error')
  scope.setTags({ 'failure.kind': kind, ...(route === undefined ? {} : { route }) })
  if (stack) scope.setContext('react', { componentStack: stack })
  if (at !== undefined) scope.addEventProcessor((event) => ({ ...event, timestamp: at }))
  return scope
}

/** Browsers provide no error for scripts of other sites, and for files that did not load. */
function plainEvent({ kind, message = '', filename = '', lineno, colno = 0 }: PageFailure, mechanism: object) {
  const value = kind === 'resource' ? `Failed to load ${filename}: ${message}` : message
  const frames = lineno === undefined ? [] : [{ filename, lineno, colno, in_app: true }]
  return {
    level: 'error',
    exception: { values: [{ type: 'Error', value, mechanism, stacktrace: { frames } }] },
  } as Parameters<BrowserClient['captureEvent']>[0]
}
