/**
 * The module that takes over from the recorder: the SDK of the error service and its sources. It is built as a separate
 * file, so that it does not change with the application.
 */
import { HYDRATION_DATA_SELECTOR, type HydrationState } from '../../shared/protocol/hydration-data.ts'
import { parsePattern } from '../../shared/route-pattern.ts'
import type { HostedRouter } from '../react/router-types.ts'
import type { PageReports } from './page-reports.ts'
import { createPageClient } from './report-client.ts'
import { createFailureReporter } from './report-failure.ts'
import { traceNavigations, tracePageLoad, traceRestores, type TracedPage } from './trace-routes.ts'

const started = new WeakSet<PageReports>()

/** Starts the SDK, and passes it the recorded failures. */
export function startReports(window: Window & typeof globalThis, reports: PageReports): void {
  // An application may call `allowReports` twice.
  if (started.has(reports)) return
  started.add(reports)
  const client = createPageClient(window, reports.settings)
  const first = pageOf(window.document)
  let router: HostedRouter | undefined

  function shown(): TracedPage {
    if (router === undefined) return first
    const { chain, outcome } = router.screen.view
    const key = chain.at(-1)?.key
    return { route: key === undefined ? undefined : parsePattern(key).url, outcome: outcome?.kind }
  }

  const load = tracePageLoad(client, first, traceOf(window.performance))
  if (reports.settings.rate > 0) traceRestores(window, client, shown)
  const report = createFailureReporter(client, () => shown().route)
  function connect(connected: HostedRouter): void {
    router = connected
    reports.left = traceNavigations(client, connected, shown, { rate: reports.settings.rate, load })
    if (reports.early) reports.left(reports.early)
  }
  if (reports.router === undefined) Object.defineProperty(reports, 'router', { set: connect })
  else connect(reports.router)
  reports.add = (failure) => {
    const known = { at: Date.now() / 1_000, ...failure }
    // React reports while it commits a page; a microtask later the router knows which page that is.
    if (failure.kind === 'caught') queueMicrotask(() => report(known))
    else report(known)
  }
  for (const failure of reports.kept.splice(0)) report(failure)
}

/** The page's facts in the document. */
function pageOf(document: Document): TracedPage {
  const text = document.querySelector(HYDRATION_DATA_SELECTOR)?.textContent
  const { route, outcome } = (text ? JSON.parse(text) : {}) as Partial<HydrationState>
  return { route: route ? parsePattern(route).url : undefined, outcome: outcome?.kind }
}

/**
 * The trace of this load of the document; `undefined` if the document is from the browser's storage, because its trace
 * belongs to an earlier load.
 */
function traceOf(performance: Performance): string | undefined {
  const navigation = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined
  if (navigation === undefined || navigation.transferSize === 0) return undefined
  return navigation.serverTiming.find(({ name }) => name === 'sentry-trace')?.description
}
