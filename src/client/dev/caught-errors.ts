import type { PageReports, ReportingPage } from '../reports/page-reports.ts'

/**
 * Hears of what an error page has taken the place of: React keeps that from the window. In development a page has no
 * reports, so theirs is the ear that is free.
 */
export function hearCaught(page: ReportingPage, hear: (thrown: unknown) => void): void {
  const nowhere: PageReports['settings'] = { dsn: '', tunnel: '', sdk: '', release: '', environment: '', rate: 0 }
  page.millraceReports ??= {
    settings: nowhere,
    kept: [],
    add({ kind, thrown }) {
      // All else the window tells of.
      if (kind === 'caught') hear(thrown)
    },
    allow: () => undefined,
  }
}
