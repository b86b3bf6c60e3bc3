import type { Registry } from '@prometheus-io/client'
import type { ReportStats, SpoolLevel } from '../../reports/report-counts.ts'
import { metricMakers } from './metric-makers.ts'

/**
 * Adds the metrics of error reports: received, delivered, waiting and lost.
 * @param stats called for each scrape; `undefined` before the server exists.
 */
export function addReportMetrics(registry: Registry, stats: () => ReportStats | undefined): void {
  const { counter, gauge } = metricMakers(registry)

  const level = (name: string, help: string, value: (level: SpoolLevel) => number): void => {
    gauge({
      name,
      help,
      labelNames: ['store'],
      // All processes of an instance share one spool.
      aggregator: 'max',
      async collect() {
        const levels = (await stats()?.levels()) ?? []
        this.reset()
        for (const known of levels) this.set({ store: known.store }, value(known))
      },
    })
  }

  counter({
    name: 'millrace_report_envelopes_total',
    help: 'Reports: kept, left-out (of a kind that is never reported), delivered, given-up (the service refuses it).',
    labelNames: ['outcome'],
    collect() {
      this.reset()
      for (const [outcome, sum] of Object.entries(stats()?.counts.envelopes ?? {})) this.inc({ outcome }, sum)
    },
  })
  counter({
    name: 'millrace_report_items_lost_total',
    help: 'Parts of reports that were never delivered, counted when this is reported to the service.',
    labelNames: ['reason'],
    collect() {
      this.reset()
      for (const [reason, sum] of Object.entries(stats()?.counts.lost ?? {})) this.inc({ reason }, sum)
    },
  })
  level(
    'millrace_spool_envelopes',
    'Reports that wait for the service: on the disk of this instance, or in the store that all share.',
    ({ envelopes }) => envelopes,
  )
  level('millrace_spool_bytes', 'Their size in bytes, as counted for the bound of their spool.', ({ bytes }) => bytes)
  gauge({
    name: 'millrace_report_service_failing',
    help: 'Whether the error service fails for the delivering process; no value without a service.',
    aggregator: 'max',
    collect() {
      const failing = stats()?.isFailing()
      if (failing === undefined) this.remove()
      else this.set(failing ? 1 : 0)
    },
  })
}
