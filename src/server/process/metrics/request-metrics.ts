import type { Registry } from '@prometheus-io/client'
import type { RequestObserver } from '../../request/request-log.ts'
import { metricMakers } from './metric-makers.ts'
import { labelsOf } from './request-labels.ts'

/** Seconds: from a small page to `RENDER_TIMEOUT_MS`. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Adds the metrics of requests. @returns counts a finished request. */
export function addRequestMetrics(registry: Registry): RequestObserver {
  const { counter, histogram } = metricMakers(registry)
  const requests = counter({
    name: 'millrace_http_requests_total',
    help: 'Finished requests.',
    labelNames: ['route', 'kind', 'method', 'status'],
  })
  const durations = histogram({
    name: 'millrace_http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer.',
    labelNames: ['route', 'kind'],
    buckets: DURATIONS,
  })
  const bytes = counter({
    name: 'millrace_http_response_bytes_total',
    help: 'Bytes of answers on the wire, heads included.',
    labelNames: ['route', 'kind'],
  })
  const aborted = counter({
    name: 'millrace_http_requests_aborted_total',
    help: 'Answers that were cut off, mostly because the visitor disconnected.',
    labelNames: ['route', 'kind'],
  })
  const shed = counter({
    name: 'millrace_requests_shed_total',
    help: 'Pages refused with 503: places, load, or wait.',
    labelNames: ['kind', 'reason'],
  })
  const kept = counter({
    name: 'millrace_kept_pages_total',
    help: "Requests for pages with cache: 'shared': answered with the kept document (hit, stale), made for all (miss), or for one visitor (bypass).",
    labelNames: ['route', 'status'],
  })
  const phases = histogram({
    name: 'millrace_render_phase_seconds',
    help: 'Phases of documents and route data: loaders, the way to the head (shell), and from the head to the end (stream).',
    labelNames: ['phase', 'kind'],
    buckets: DURATIONS,
  })

  return (record) => {
    const labels = labelsOf(record)
    const { route, kind } = labels
    requests.inc({ ...labels })
    durations.observe({ route, kind }, record.durationMs / 1_000)
    bytes.inc({ route, kind }, record.bytes)
    if (record.aborted) aborted.inc({ route, kind })
    if (record.shed !== undefined) shed.inc({ kind, reason: record.shed })
    const { cache, timing } = record
    if (cache !== undefined) kept.inc({ route, status: cache.split(':', 1)[0] ?? '' })
    if (timing === undefined) return
    phases.observe({ phase: 'loaders', kind }, timing.loadersMs / 1_000)
    phases.observe({ phase: 'shell', kind }, timing.headMs / 1_000)
    phases.observe({ phase: 'stream', kind }, Math.max(0, record.durationMs - timing.headMs) / 1_000)
  }
}
