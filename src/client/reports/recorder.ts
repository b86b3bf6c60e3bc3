import { HAND_OFF_ELEMENT_ID } from '../../shared/protocol/hand-off.ts'
import type { ReportSettings } from '../../shared/reports/report-settings.ts'
import type { PageFailure, PageReports, ReportingPage } from './page-reports.ts'

/** Kept until the SDK comes; what follows in such a page says nothing new. */
const MOST_KEPT = 20

/**
 * Keeps what fails before the SDK is there, then brings that. Where it never comes, because the page is left or its
 * scripts are broken, what was kept is sent from here, plainly. This is an inline script in every document, and counts
 * before everything else: below 1 kB with its settings, compressed. So what it reads, it reads by patterns.
 */
export function startRecorder(page: Window & typeof globalThis & ReportingPage, settings: ReportSettings): void {
  const kept: PageFailure[] = []
  let allowed = !settings.consent

  const reports: PageReports = {
    settings,
    kept,
    add(failure) {
      const { thrown } = failure
      if (!kept[MOST_KEPT] && !kept.some((one) => thrown && one.thrown === thrown))
        kept.push({ at: Date.now() / 1_000, ...failure })
    },
    allow() {
      allowed = true
      ;(page.requestIdleCallback ?? setTimeout)(() =>
        import(settings.sdk).then(
          (module: typeof import('./start-reports.ts')) => module.startReports(page, reports),
          () => {},
        ),
      )
    },
  }

  page.millraceReports = reports
  addEventListener(
    'error',
    ({ target, error, message, filename, lineno, colno }) => {
      const { src, href, localName } = target as HTMLScriptElement & HTMLLinkElement
      reports.add(
        target === page
          ? { kind: 'error', thrown: error, message, file: filename, line: lineno, column: colno }
          : { kind: 'resource', message: src || href, file: localName },
      )
    },
    true,
  )
  addEventListener('unhandledrejection', ({ reason }) => reports.add({ kind: 'rejection', thrown: reason }))
  // The page is about to go. Where the SDK has come, nothing is kept any more.
  addEventListener('pagehide', () => {
    if (allowed) for (const failure of kept.splice(0)) send(failure)
  })
  if (allowed) addEventListener('load', reports.allow)

  function send({ at, message, thrown }: PageFailure): void {
    const { name, message: value, stack, digest } = (thrown ?? {}) as Error & { readonly digest?: string }
    const [, trace_id, span_id] =
      /sentry-trace.*?(\w{32})-(\w{16})/.exec(JSON.stringify(performance.getEntriesByType('navigation'))) ?? []
    const event = {
      timestamp: at,
      platform: 'javascript',
      release: settings.release,
      environment: settings.environment,
      request: { url: location.origin + location.pathname },
      tags: {
        route: /"route":"(.*?)"/.exec(document.getElementById(HAND_OFF_ELEMENT_ID)?.textContent as string)?.[1],
        digest,
      },
      contexts: trace_id ? { trace: { trace_id, span_id } } : {},
      exception: { values: [{ type: name ?? 'Error', value: value ?? message ?? String(thrown) }] },
      extra: { stack },
    }
    navigator.sendBeacon(
      settings.tunnel,
      [{ dsn: settings.dsn }, { type: 'event' }, event].map((line) => JSON.stringify(line)).join('\n'),
    )
  }
}
