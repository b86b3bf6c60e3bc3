import {
  addBreadcrumb,
  getCurrentScope,
  startBrowserTracingNavigationSpan,
  startBrowserTracingPageLoadSpan,
  startNewTrace,
  type BrowserClient,
  type Span,
} from '@sentry/react'
import { REFUSAL_STATUS, type RedirectSignal, type RefusalKind, type RefusalSignal } from '../../shared/control-flow.ts'
import type { NavigateEvent, Router } from '../react/router-types.ts'

/** Facts about the page on screen, for naming spans. */
export interface TracedPage {
  /** Pattern of the route; `undefined` if none matched. */
  readonly route: string | undefined
  /** The fallback that replaces the page, if any. */
  readonly outcome: string | undefined
}

/** OpenTelemetry's SpanStatusCode. */
const OK_STATUS = 1
const ERROR_STATUS = 2

/** The service's names of the statuses; spans with those of refusals are not sent. */
const REFUSED: Readonly<Record<number, string>> = { 401: 'unauthenticated', 403: 'permission_denied', 404: 'not_found' }

/**
 * Starts the span of the page load, which continues the server's trace.
 * @param trace from the server; `undefined` for a document from the browser's storage, whose trace belongs to an
 * earlier load.
 * @returns the span.
 */
export function tracePageLoad(client: BrowserClient, page: TracedPage, trace: string | undefined): Span | undefined {
  // Without an own trace, the SDK would use that of the stored document.
  const own = trace === undefined ? { sentryTrace: '-', baggage: '-' } : undefined
  const span = startBrowserTracingPageLoadSpan(client, namedBy(page, location.pathname, 'pageload'), own)
  settle(span, page)
  return span
}

/** Facts about tracing after hydration. */
interface TracedLoad {
  /** Share of page loads that are traced, 0 to 1. With 0 no span is started: it would cost a click a millisecond. */
  readonly rate: number
  /** Span of the page load. */
  readonly load: Span | undefined
}

/**
 * Names spans by the router's events, and other reports by the page on screen.
 * @param shown the current page on screen.
 * @returns a function for refusals that the page on screen has thrown: its span is then not sent.
 */
export function traceNavigations(
  client: BrowserClient,
  router: Router,
  shown: () => TracedPage,
  { rate, load }: TracedLoad,
): (signal: RedirectSignal | RefusalSignal) => void {
  let span: Span | undefined
  /** Span of the page on screen, until it is sent. */
  let current = load

  router.onNavigate((event) => {
    const { type, kind, to } = event
    if (kind === 'refresh') return
    const path = to.replace(/[?#].*/s, '')
    if (type === 'start') {
      leaveCrumb(event)
      if (event.reason === 'redirect') current?.setStatus({ code: ERROR_STATUS, message: 'cancelled' })
      span = rate > 0 ? beginSpan(client, path) : beginTrace(path)
      return
    }
    if (type === 'commit') {
      const page = shown()
      const { name, attributes } = namedBy(page, path, 'navigation')
      span?.setStatus({ code: OK_STATUS })
      span?.updateName(name)
      span?.setAttributes(attributes)
      getCurrentScope().setTransactionName(name)
      settle(span, page)
      current = span
    } else if (type === 'fail') span?.setStatus({ code: ERROR_STATUS, message: 'internal_error' })
    else {
      // Cancelled, or left to the browser.
      span?.setStatus({ code: ERROR_STATUS, message: 'cancelled' })
      span?.end()
    }
    span = undefined
  })

  return (signal) => {
    if (!('kind' in signal)) return
    // An error while a page is committed is thrown before the router knows of the commit.
    settle(span ?? current, { route: undefined, outcome: signal.kind })
  }
}

/**
 * Starts a span whenever the browser restores the page from its back/forward cache. The SDK would do that as well, but
 * name it by its path, and send it even for a refused page.
 * @param shown the page on screen.
 */
export function traceRestores(window: EventTarget, client: BrowserClient, shown: () => TracedPage): void {
  window.addEventListener('pageshow', (event) => {
    if (!(event as PageTransitionEvent).persisted) return
    const page = shown()
    const { name, attributes } = namedBy(page, location.pathname, 'navigation')
    const options = { name, attributes: { ...attributes, 'browser.navigation.type': 'back-forward-cache' } }
    settle(startBrowserTracingNavigationSpan(client, options, { url: location.origin + location.pathname }), page)
  })
}

function beginSpan(client: BrowserClient, path: string): Span | undefined {
  const unnamed = namedBy({ route: undefined, outcome: undefined }, path, 'navigation')
  const span = startBrowserTracingNavigationSpan(client, unnamed, { url: location.origin + path })
  // Until the result is known: the SDK ends the span itself when the page is left, and it might be a redirect.
  span?.setStatus({ code: ERROR_STATUS, message: 'cancelled' })
  return span
}

/** As the SDK does besides the span: failures of different pages belong to different traces. */
function beginTrace(path: string): undefined {
  const scope = getCurrentScope()
  scope.setPropagationContext(startNewTrace(() => getCurrentScope().getPropagationContext()))
  scope.setTransactionName(path)
}

function namedBy({ route }: TracedPage, path: string, what: 'pageload' | 'navigation') {
  const attributes = {
    'sentry.segment.name.source': route === undefined ? 'url' : 'route',
    'sentry.origin': `auto.${what}.millrace`,
  } as const
  return { name: route ?? path, attributes }
}

function settle(span: Span | undefined, { outcome }: TracedPage): void {
  if (outcome === undefined) return
  const status = REFUSAL_STATUS[outcome as RefusalKind] as number | undefined
  span?.setStatus({ code: ERROR_STATUS, message: REFUSED[status ?? 0] ?? 'internal_error' })
}

function leaveCrumb({ from, to, kind }: NavigateEvent): void {
  addBreadcrumb({ category: 'navigation', type: 'navigation', data: { from, to, kind } })
}
