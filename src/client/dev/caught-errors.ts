import type { PageReports, ReportingPage } from '../reports/page-reports.ts'

/**
 * Listens to errors that an error page has replaced, because React does not report those to the window. Development
 * pages have no error reports, so their hook is free.
 */
export function hearCaught(page: ReportingPage, hear: (thrown: unknown) => void): void {
  const nowhere: PageReports['settings'] = { dsn: '', tunnel: '', sdk: '', release: '', environment: '', rate: 0 }
  page.millraceReports ??= {
    settings: nowhere,
    kept: [],
    add({ kind, thrown }) {
      // The window reports everything else.
      if (kind === 'caught') hear(thrown)
    },
    allow: () => undefined,
  }
}
