import {
  breadcrumbsIntegration,
  BrowserClient,
  browserTracingIntegration,
  dedupeIntegration,
  defaultStackParser,
  eventFiltersIntegration,
  getCurrentScope,
  httpContextIntegration,
  linkedErrorsIntegration,
  type Breadcrumb,
} from '@sentry/react'
import { withBasePath, withoutBasePath } from '../../shared/base-path.ts'
import { RUNTIME_PREFIX } from '../../shared/runtime-paths.ts'
import { PURPOSE_HEADER } from '../../shared/protocol/route-data.ts'
import { reportableEvent } from '../../shared/reports/reportable-event.ts'
import { PREFETCH_ATTRIBUTE } from '../../shared/reports/reportable-spans.ts'
import type { ReportSettings } from '../../shared/reports/report-settings.ts'
import { nameScripts } from './name-scripts.ts'
import { pageTransport } from './page-transport.ts'
import { rateSpan, rateTransaction } from './rate-vitals.ts'
import { eventWithoutQueries } from './without-queries.ts'

/** Milliseconds; the defaults of the service's own SDK. */
const IDLE_TIMEOUT_MS = 1_000
const FINAL_TIMEOUT_MS = 30_000
const CHILD_SPAN_TIMEOUT_MS = 15_000

const MOST_OFFLINE = 30 // envelopes; a page that is offline for days must not fill the disk
const MOST_BREADCRUMBS = 50

const ASSETS = withBasePath(`${RUNTIME_PREFIX}assets/`)
const EXTENSIONS = [/^(?:chrome|moz|safari(?:-web)?)-extension:/]

/**
 * Creates the page's SDK: selected integrations, one relay, and no data that could identify the visitor. `PageReports`
 * passes errors to it, so that early and late ones take the same path.
 */
export function createPageClient(window: Window & typeof globalThis, settings: ReportSettings): BrowserClient {
  const { dsn, tunnel, release, environment, rate } = settings
  const tellsShifts = PerformanceObserver.supportedEntryTypes.includes('layout-shift')
  const client = new BrowserClient({
    dsn,
    tunnel,
    release,
    environment,
    tracesSampleRate: rate,
    // A whole transaction can be dropped after a refusal; spans that are sent one by one cannot.
    traceLifecycle: 'static',
    // Captured before the SDK wraps it.
    transport: pageTransport(window.fetch.bind(window)),
    transportOptions: { maxQueueSize: MOST_OFFLINE, flushAtStartup: true, dbName: 'millrace-reports' } as object,
    stackParser: defaultStackParser,
    integrations: [
      eventFiltersIntegration(),
      linkedErrorsIntegration(),
      dedupeIntegration(),
      httpContextIntegration(),
      breadcrumbsIntegration({ history: false }),
      browserTracingIntegration({
        idleTimeout: IDLE_TIMEOUT_MS,
        finalTimeout: FINAL_TIMEOUT_MS,
        childSpanTimeout: CHILD_SPAN_TIMEOUT_MS,
        instrumentPageLoad: false,
        instrumentNavigation: false,
        instrumentBfcacheRestore: false,
        detectRedirects: false,
        shouldCreateSpanForRequest: (url) => !isRuntimes(url, tunnel),
        onRequestSpanStart(span, { headers }) {
          if (headers?.has(PURPOSE_HEADER)) span.setAttribute(PREFETCH_ATTRIBUTE, true)
        },
      }),
    ],
    denyUrls: EXTENSIONS,
    maxBreadcrumbs: MOST_BREADCRUMBS,
    sendClientReports: true,
    enhanceFetchErrorMessages: 'report-only',
    dataCollection: {
      userInfo: false,
      cookies: false,
      httpHeaders: { request: { allow: ['user-agent'] }, response: false },
      httpBodies: [],
      urlQueryParams: false,
      stackFrameVariables: false,
    },
    beforeBreadcrumb: (breadcrumb) => (isNoise(breadcrumb, tunnel) ? null : breadcrumb),
    beforeSend(event) {
      const reported = reportableEvent(event, withoutBasePath(tunnel))
      return reported === undefined ? null : nameScripts(eventWithoutQueries(reported), location.origin + ASSETS)
    },
    beforeSendTransaction(event) {
      const reported = reportableEvent(rateTransaction(event, tellsShifts), withoutBasePath(tunnel))
      return reported === undefined ? null : eventWithoutQueries(reported)
    },
  })
  client.on('spanEnd', rateSpan)
  getCurrentScope().setClient(client)
  client.init()
  return client
}

function isRuntimes(url: string, tunnel: string): boolean {
  const { pathname } = new URL(url, location.href)
  return pathname === tunnel || pathname.startsWith(ASSETS)
}

function isNoise({ data }: Breadcrumb, tunnel: string): boolean {
  const url: unknown = data?.['url']
  return typeof url === 'string' && isRuntimes(url, tunnel)
}
