import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import type { Admission } from '../../request/admission/admission.ts'
import type { LoadReading } from '../../request/admission/load-watch.ts'
import type { RequestObserver } from '../../request/request-log.ts'
import type { ReportStats } from '../../reports/report-counts.ts'
import { addCacheMetrics, type ServerCaches } from './cache-metrics.ts'
import { metricMakers } from './metric-makers.ts'
import { addReportMetrics } from './report-metrics.ts'
import { addRequestMetrics } from './request-metrics.ts'

/** Metrics of one server process. */
export interface ServerMetrics {
  readonly registry: Registry
  /** Counts a finished request. */
  readonly observe: RequestObserver
  /** Takes the latest reading of the event loop. */
  load(reading: LoadReading): void
}

/** What each scrape reads. The functions return `undefined` before the server exists. */
export interface Measured {
  readonly buildId: string
  admission(): Pick<Admission, 'load' | 'pending' | 'waiting'> | undefined
  caches(): Pick<ServerCaches, 'data' | 'documents'> | undefined
  reports(): ReportStats | undefined
  /** MAX_PENDING_RENDERS. */
  readonly limit: number
  /** Open connections; `undefined` if the server is not ours. */
  connections(): Promise<number | undefined>
  /** Whether the shared store can be used; `undefined` without one. */
  sharedStore(): boolean | undefined
}

const NEVER_MS = 2 ** 31 - 1 // the longest interval of a timer: 24 days

/** Makes the metrics of this process. Names and labels are listed in `docs/observability.md`. */
export function createServerMetrics(measured: Measured): ServerMetrics {
  const registry = new Registry()
  addProcessMetrics(registry)
  const observe = addRequestMetrics(registry)
  return { registry, observe, load: addLevels(registry, measured) }
}

/**
 * Adds the metrics that are read when they are asked for, and those of the event loop.
 * @returns takes the latest reading of the event loop.
 */
export function addLevels(registry: Registry, measured: Measured): ServerMetrics['load'] {
  addAdmissionMetrics(registry, measured)
  addCacheMetrics(registry, () => measured.caches())
  addReportMetrics(registry, () => measured.reports())
  const load = addLoadMetrics(registry)
  addConnectionMetrics(registry, measured)
  metricMakers(registry)
    .gauge({
      name: 'millrace_build_info',
      help: 'Always 1; the labels name the build and the Node that runs it.',
      labelNames: ['build', 'node'],
      aggregator: 'max',
    })
    .set({ build: measured.buildId, node: process.versions.node }, 1)
  return load
}

/**
 * Adds the library's metrics of a Node process, without event loop utilization: it samples that ten times a second, and
 * `nodejs_eventloop_lag_*` says the same.
 */
function addProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register, eventLoopUtilizationTimeout: NEVER_MS })
  for (const kind of ['summary', 'histogram']) register.removeSingleMetric(`nodejs_eventloop_utilization_${kind}`)
}

function addAdmissionMetrics(registry: Registry, { admission, limit }: Pick<Measured, 'admission' | 'limit'>): void {
  const { gauge } = metricMakers(registry)
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
    help: 'Refusals for load: 0 none, up to 1 prefetches, up to 2 data, above that documents.',
    aggregator: 'max',
    collect() {
      this.set(admission()?.load.pressure ?? 0)
    },
  })
}

function addLoadMetrics(registry: Registry): ServerMetrics['load'] {
  const { gauge } = metricMakers(registry)
  const delay = gauge({
    name: 'millrace_event_loop_delay_seconds',
    help: 'Average delay of the event loop over the last quarter of a second.',
    aggregator: 'max',
  })
  const utilization = gauge({
    name: 'millrace_event_loop_utilization_ratio',
    help: 'Busy share of the event loop in the last quarter of a second.',
    aggregator: 'average',
  })
  return (reading) => {
    delay.set(reading.delayMs / 1_000)
    utilization.set(reading.utilization)
  }
}

function addConnectionMetrics(
  registry: Registry,
  { connections, sharedStore }: Pick<Measured, 'connections' | 'sharedStore'>,
): void {
  const { gauge } = metricMakers(registry)
  gauge({
    name: 'millrace_http_connections',
    help: 'Open connections to the public port.',
    async collect() {
      const count = await connections()
      if (count === undefined) this.remove()
      else this.set(count)
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
}
