import {
  Counter,
  Gauge,
  type CounterConfiguration,
  type GaugeConfiguration,
  type Registry,
} from '@prometheus-io/client'
import type { ReportStats, SpoolLevel } from '../../reports/report-counts.ts'

/**
 * Adds the metrics of error reports: what has come in, what has reached the service, what waits and what was lost.
 * @param stats asked late: metrics are made first.
 */
export function addReportMetrics(registry: Registry, stats: () => ReportStats | undefined): void {
  const registers = [registry]
  const counter = <Label extends string>(options: CounterConfiguration<Label>): Counter<Label> =>
    new Counter<Label>({ ...options, registers })
  const gauge = <Label extends string>(options: GaugeConfiguration<Label>): Gauge<Label> =>
    new Gauge<Label>({ ...options, registers })

  const level = (name: string, help: string, value: (level: SpoolLevel) => number): void => {
    gauge({
      name,
      help,
      labelNames: ['store'],
      // The processes of an instance look at the same spool.
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
    help: 'Reports: kept, left-out (of a kind that is never reported), delivered, given-up (the service does not want it).',
    labelNames: ['outcome'],
    collect() {
      this.reset()
      for (const [outcome, sum] of Object.entries(stats()?.counts.envelopes ?? {})) this.inc({ outcome }, sum)
    },
  })
  counter({
    name: 'millrace_report_items_lost_total',
    help: 'Parts of reports that were never delivered, counted when the service is told of them.',
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
  level('millrace_spool_bytes', 'What they count for against the bound of their spool.', ({ bytes }) => bytes)
  gauge({
    name: 'millrace_report_service_failing',
    help: 'Whether the error service fails, as the process finds that delivers to it; no value without one.',
    aggregator: 'max',
    collect() {
      const failing = stats()?.isFailing()
      if (failing === undefined) this.remove()
      else this.set(failing ? 1 : 0)
    },
  })
}
