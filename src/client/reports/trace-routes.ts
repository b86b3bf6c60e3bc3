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

/** What is on the screen, as spans are named by it. */
export interface TracedPage {
  /** Pattern of the route; `undefined` where none matched. */
  readonly route: string | undefined
  /** The fallback in the page's place, if there is one. */
  readonly outcome: string | undefined
}

/** OpenTelemetry's SpanStatusCode. */
const OK_STATUS = 1
const ERROR_STATUS = 2

/** The service's names of the statuses; those of refusals keep a span from being sent. */
const REFUSED: Readonly<Record<number, string>> = { 401: 'unauthenticated', 403: 'permission_denied', 404: 'not_found' }

/**
 * Begins the span of the page load: it goes on with the server's trace.
 * @param trace as the server has handed it over; `undefined` for a document out of the browser's own store, whose trace
 * is that of an earlier load.
 * @returns the span.
 */
export function tracePageLoad(client: BrowserClient, page: TracedPage, trace: string | undefined): Span | undefined {
  // Without a trace of its own, the SDK would look for that of the stored document.
  const own = trace === undefined ? { sentryTrace: '-', baggage: '-' } : undefined
  const span = startBrowserTracingPageLoadSpan(client, namedBy(page, location.pathname, 'pageload'), own)
  settle(span, page)
  return span
}

/**
 * Names spans by the router's events, and what else is reported by the page that is on the screen.
 * @param shown what is on the screen by now.
 * @param rate share of page loads that are traced, 0 to 1. With 0 no span is begun: one that nobody gets would cost a
 * click a millisecond.
 * @param load span of the page load.
 * @returns takes a refusal that the page on the screen has thrown: its span is then not sent.
 */
export function traceNavigations(
  client: BrowserClient,
  router: Router,
  shown: () => TracedPage,
  rate: number,
  load: Span | undefined,
): (signal: RedirectSignal | RefusalSignal) => void {
  let span: Span | undefined
  /** Of the page on the screen, as long as it has not been sent. */
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
      // Given up, or the browser's own business from here on.
      span?.setStatus({ code: ERROR_STATUS, message: 'cancelled' })
      span?.end()
    }
    span = undefined
  })

  return (signal) => {
    if (!('kind' in signal)) return
    // What is thrown while a page comes to the screen is thrown before the router is told that it has.
    settle(span ?? current, { route: undefined, outcome: signal.kind })
  }
}

/**
 * Begins a span whenever the page comes back out of the browser's own store, as it was left there. The SDK does that as
 * well, but would name it by its path, and send the one of a page that says it is none.
 * @param shown what is on the screen.
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
  // Until it is known what comes of it: the SDK ends it by itself when the page is left, and it might be a redirect.
  span?.setStatus({ code: ERROR_STATUS, message: 'cancelled' })
  return span
}

/** What the SDK does beside the span: failures of different pages belong to different traces. */
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
