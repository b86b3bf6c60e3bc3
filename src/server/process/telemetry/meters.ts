/**
 * The metrics of `/metrics`, through the meter of OpenTelemetry. What `/metrics` reads when it is scraped is read from the
 * same sources when the meter's reader collects; requests are recorded by the SDK, because its API has no histograms that
 * are read.
 */
import {
  metrics,
  ValueType,
  type Attributes,
  type Meter,
  type MetricOptions,
  type ObservableCounter,
  type ObservableGauge,
} from '@opentelemetry/api'
import { Registry } from '@prometheus-io/client'
import type { LoadReading } from '../../request/admission/load-watch.ts'
import type { RequestObserver } from '../../request/request-log.ts'
import { addLevels, type Measured } from '../metrics/server-metrics.ts'
import { methodOf, patternOf } from './request-spans.ts'

/** Names of the semantic conventions, by the names of `/metrics`. */
const CONVENTIONS: Readonly<Record<string, string>> = {
  millrace_event_loop_delay_seconds: 'nodejs.eventloop.delay.mean',
  millrace_event_loop_utilization_ratio: 'nodejs.eventloop.utilization',
}

const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
  ['_ratio', '1'],
]

/** Seconds. Source: semantic conventions, `http.server.request.duration`. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** What is measured. */
export interface Meters {
  /** Counts a finished request. */
  readonly observe: RequestObserver
  /** Takes the latest reading of the event loop. */
  load(reading: LoadReading): void
  /** Stops reading. */
  dispose(): void
}

/** Starts to measure. */
export async function openMeters(measured: Measured): Promise<Meters> {
  const meter = metrics.getMeter('millrace')
  const registry = new Registry()
  const load = addLevels(registry, measured)
  const dispose = await readLevels(meter, registry)
  return { observe: recordRequests(meter), load, dispose }
}

/** `millrace.data_cache_requests` of `millrace_data_cache_requests_total`: a Prometheus exporter makes that of it again. */
function instrumentOf(name: string): { readonly name: string; readonly unit?: string } {
  const counted = name.replace(/_total$/, '')
  const [suffix = '', unit] = UNITS.find(([ending]) => counted.endsWith(ending)) ?? []
  const plain = counted.slice(0, counted.length - suffix.length).replace('_', '.')
  return { name: CONVENTIONS[name] ?? plain, ...(unit === undefined ? {} : { unit }) }
}

/** @returns stops reading. */
async function readLevels(meter: Meter, registry: Registry): Promise<() => void> {
  const instruments = new Map<string, ObservableCounter | ObservableGauge>()
  for (const { name, help, type } of await registry.getMetricsAsJSON()) {
    const { name: own, ...unit } = instrumentOf(name)
    const options: MetricOptions = { description: help, ...unit }
    const isCounter = String(type) === 'counter'
    instruments.set(
      name,
      isCounter ? meter.createObservableCounter(own, options) : meter.createObservableGauge(own, options),
    )
  }
  const all = [...instruments.values()]
  const read: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    for (const { name, values } of await registry.getMetricsAsJSON()) {
      const instrument = instruments.get(name)
      if (instrument === undefined) continue
      for (const { value, labels } of values) result.observe(instrument, value, labels as Attributes)
    }
  }
  meter.addBatchObservableCallback(read, all)
  return () => meter.removeBatchObservableCallback(read, all)
}

function recordRequests(meter: Meter): RequestObserver {
  const duration = meter.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests.',
    unit: 's',
    advice: { explicitBucketBoundaries: DURATIONS },
  })
  const phases = meter.createHistogram('millrace.render_phase', {
    description: 'Phases of documents and route data: loaders, the way to the head (shell), and from there to the end.',
    unit: 's',
    advice: { explicitBucketBoundaries: DURATIONS },
  })
  const count = (name: string, description: string, unit: string) =>
    meter.createCounter(name, { description, unit, valueType: ValueType.INT })
  const bytes = count('millrace.http_response', 'Bytes of answers on the wire, heads included.', 'By')
  const aborted = count('millrace.http_requests_aborted', 'Answers that were cut off.', '{request}')
  const shed = count('millrace.requests_shed', 'Pages refused with 503: places, load, or wait.', '{request}')

  return (record) => {
    const { kind, status } = record
    const pattern = patternOf(record)
    const common = { 'millrace.kind': kind, ...(pattern === undefined ? {} : { 'http.route': pattern }) }
    const seconds = record.durationMs / 1_000
    duration.record(seconds, {
      ...common,
      'http.request.method': methodOf(record),
      'url.scheme': record.protocol,
      ...(status === 0 ? {} : { 'http.response.status_code': status }),
      ...(status >= 500 ? { 'error.type': String(status) } : {}),
    })
    bytes.add(record.bytes, common)
    if (record.aborted) aborted.add(1, common)
    if (record.shed !== undefined) shed.add(1, { 'millrace.kind': kind, reason: record.shed })
    const { timing } = record
    if (timing === undefined) return
    const note = (phase: string, milliseconds: number): void =>
      phases.record(milliseconds / 1_000, { phase, 'millrace.kind': kind })
    note('loaders', timing.loadersMs)
    note('shell', timing.headMs)
    note('stream', Math.max(0, record.durationMs - timing.headMs))
  }
}
