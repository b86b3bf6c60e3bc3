import type { ReportSettings } from '../../shared/reports/report-settings.ts'
import type { PageFailure, PageReports, ReportingPage } from './page-reports.ts'

/**
 * Records failures before the SDK has loaded, then loads it. If that fails, because the page is left or its scripts are
 * broken, this code sends the recorded failures itself, in a simple form. It is an inline script in every document,
 * before everything else: below 1 kB with its settings, compressed. To save bytes it parses with patterns.
 */
export function startRecorder(page: Window & typeof globalThis & ReportingPage, settings: ReportSettings): void {
  const MOST_KEPT = 20 // later failures of such a page add nothing new
  const kept: PageFailure[] = []
  let allowed = !settings.consent

  const reports: PageReports = {
    settings,
    kept,
    add(failure) {
      const { thrown, kind, filename } = failure as PageFailure & {
        readonly thrown?: { readonly digest?: string } | null
      }
      // The server has reported a failure with a digest; and a page works without an image.
      if (
        thrown?.digest ||
        (kind === 'resource' && !/script|link/.test(filename as string)) ||
        kept[MOST_KEPT] ||
        kept.some((one) => thrown && one.thrown === thrown)
      )
        return
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
          ? { kind: 'error', thrown: error, message, filename, lineno, colno }
          : { kind: 'resource', message: src || href, filename: localName },
      )
    },
    true,
  )
  addEventListener('unhandledrejection', ({ reason }) => reports.add({ kind: 'rejection', thrown: reason }))
  // The page is about to be left. Once the SDK has loaded, nothing is kept any more.
  addEventListener('pagehide', () => {
    if (allowed) for (const failure of kept.splice(0)) send(failure)
  })
  if (allowed) addEventListener('load', reports.allow)

  function send({ at, message, thrown }: PageFailure): void {
    const { name, message: value, stack } = (thrown ?? {}) as Error
    const [, trace_id, span_id] = /sentry-trace.*?(\w+)-(\w+)/.exec(JSON.stringify(performance.getEntries())) ?? []
    navigator.sendBeacon(
      settings.tunnel,
      // The settings that the server has written need no escaping. The relay removes queries from URLs in the rest.
      `{"dsn":"${settings.dsn}"}\n{"type":"event"}\n${JSON.stringify({
        timestamp: at,
        platform: 'javascript',
        release: settings.release,
        environment: settings.environment,
        request: { url: location.origin + location.pathname },
        tags: {
          route: /"route":"(.*?)"/.exec(document.querySelector('script#millrace')?.textContent as string)?.[1],
        },
        contexts: trace_id && { trace: { trace_id, span_id } },
        exception: { values: [{ type: name ?? 'Error', value: value ?? message ?? String(thrown) }] },
        extra: { stack },
      })}`,
    )
  }
}
