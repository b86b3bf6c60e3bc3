import type { ServerCaches } from './cache-metrics.ts'
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type GaugeConfiguration,
} from '@prometheus-io/client'
import type { Admission } from '../../request/admission/admission.ts'
import type { LoadReading } from '../../request/admission/load-watch.ts'
import type { RequestObserver } from '../../request/request-log.ts'
import { addCacheMetrics } from './cache-metrics.ts'
import type { ReportStats } from '../../reports/report-counts.ts'
import { addReportMetrics } from './report-metrics.ts'
import { labelsOf } from './request-labels.ts'

/** Metrics of one server process. */
export interface ServerMetrics {
  readonly registry: Registry
  /** Counts a request that is over. */
  readonly observe: RequestObserver
  /** Takes over what the process has just measured of itself. */
  load(reading: LoadReading): void
}

/** What is read when somebody asks for the metrics. */
export interface Measured {
  readonly buildId: string
  /** Asked late: metrics are made before the server is. */
  admission(): Pick<Admission, 'load' | 'pending' | 'waiting'> | undefined
  /** Asked late as well. */
  caches(): Pick<ServerCaches, 'data' | 'documents'> | undefined
  /** Asked late as well. */
  reports(): ReportStats | undefined
  /** Places of the admission. */
  readonly limit: number
  /** Open connections. */
  connections(): Promise<number>
  /** Whether the store that instances share can be used; `undefined` where there is none. */
  sharedStore(): boolean | undefined
}

/** Seconds: from a small page to `RENDER_TIMEOUT_MS`. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const NEVER_MS = 2 ** 31 - 1 // the longest interval of a timer: 24 days

/**
 * Adds what the library knows of every Node process, except for its event loop utilization: it samples that ten times a
 * second, and `nodejs_eventloop_lag_*` tells operators the same.
 */
function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register, eventLoopUtilizationTimeout: NEVER_MS })
  for (const kind of ['summary', 'histogram']) register.removeSingleMetric(`nodejs_eventloop_utilization_${kind}`)
}

/** Makes the metrics of this process. Names and labels are listed in `docs/observability.md`. */
export function createServerMetrics(measured: Measured): ServerMetrics {
  const { buildId, admission, caches, reports, limit, connections, sharedStore } = measured
  const registry = new Registry()
  const registers = [registry]
  collectProcessMetrics(registry)

  const gauge = <Label extends string>(options: Omit<GaugeConfiguration<Label>, 'registers'>): Gauge<Label> =>
    new Gauge<Label>({ ...options, registers })

  const requests = new Counter({
    name: 'millrace_http_requests_total',
    help: 'Requests that are over.',
    labelNames: ['route', 'kind', 'method', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'millrace_http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer.',
    labelNames: ['route', 'kind'],
    buckets: DURATIONS,
    registers,
  })
  const bytes = new Counter({
    name: 'millrace_http_response_bytes_total',
    help: 'Bytes of answers on the wire, heads included.',
    labelNames: ['route', 'kind'],
    registers,
  })
  const aborted = new Counter({
    name: 'millrace_http_requests_aborted_total',
    help: 'Answers that were cut off, mostly by visitors who left.',
    labelNames: ['route', 'kind'],
    registers,
  })
  const shed = new Counter({
    name: 'millrace_requests_shed_total',
    help: 'Pages refused with 503: places, load, or wait.',
    labelNames: ['kind', 'reason'],
    registers,
  })
  const phases = new Histogram({
    name: 'millrace_render_phase_seconds',
    help: 'Phases of documents and route data: loaders, the way to the head (shell), and from the head to the end (stream).',
    labelNames: ['phase', 'kind'],
    buckets: DURATIONS,
    registers,
  })
  gauge({
    name: 'millrace_renders_in_progress',
    help: 'Documents, data answers and actions in progress.',
    collect() {
      this.set(admission()?.pending ?? 0)
    },
  })
  gauge({
    name: 'millrace_renders_waiting',
    help: 'Of those, how many wait for their turn in the event loop.',
    collect() {
      this.set(admission()?.waiting ?? 0)
    },
  })
  gauge({ name: 'millrace_renders_limit', help: 'MAX_PENDING_RENDERS.' }).set(limit)
  gauge({
    name: 'millrace_load_pressure',
    help: 'What is refused for load: 0 nothing, up to 1 prefetches, up to 2 data, above it documents.',
    aggregator: 'max',
    collect() {
      this.set(admission()?.load.pressure ?? 0)
    },
  })
  addCacheMetrics(registry, caches)
  addReportMetrics(registry, reports)
  const delay = gauge({
    name: 'millrace_event_loop_delay_seconds',
    help: 'By how much the event loop was late, on average over the last quarter of a second.',
    aggregator: 'max',
  })
  const utilization = gauge({
    name: 'millrace_event_loop_utilization_ratio',
    help: 'Share of the last quarter of a second in which the event loop was at work.',
    aggregator: 'average',
  })
  gauge({
    name: 'millrace_http_connections',
    help: 'Open connections to the public port.',
    async collect() {
      this.set(await connections())
    },
  })
  gauge({
    name: 'millrace_shared_store_connected',
    help: 'Whether the store of REDIS_URL answers; no value without one.',
    aggregator: 'min',
    collect() {
      const connected = sharedStore()
      if (connected === undefined) this.remove()
      else this.set(connected ? 1 : 0)
    },
  })
  gauge({
    name: 'millrace_build_info',
    help: 'Always 1; the labels name the build and the Node that runs it.',
    labelNames: ['build', 'node'],
    aggregator: 'max',
  }).set({ build: buildId, node: process.versions.node }, 1)

  return {
    registry,
    observe(context, line) {
      const labels = labelsOf(context, line)
      const { route, kind } = labels
      requests.inc({ ...labels })
      durations.observe({ route, kind }, line.durationMs / 1_000)
      bytes.inc({ route, kind }, line.bytes)
      if (line.aborted) aborted.inc({ route, kind })
      if (context.shed !== undefined) shed.inc({ kind, reason: context.shed })
      const { timing } = context
      if (timing === undefined) return
      phases.observe({ phase: 'loaders', kind }, timing.loadersMs / 1_000)
      phases.observe({ phase: 'shell', kind }, timing.headMs / 1_000)
      phases.observe({ phase: 'stream', kind }, Math.max(0, line.durationMs - timing.headMs) / 1_000)
    },
    load(reading) {
      delay.set(reading.delayMs / 1_000)
      utilization.set(reading.utilization)
    },
  }
}
