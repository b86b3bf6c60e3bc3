import { AggregatorRegistry } from '@prometheus-io/client'

/** One metric of a worker, from `Registry.getMetricsAsJSON`. */
export interface MetricValues {
  readonly name: string
  /** `counter`, `gauge`, `histogram` or `summary`; the library types it as an enum. */
  readonly type: unknown
}

/** Metrics of several processes, added up. */
interface MergedMetrics {
  /** Replaces the metrics of a worker. */
  update(worker: number, metrics: readonly MetricValues[]): void
  /** Notes that a worker has ended. Its counts stay: a counter that falls would look like a restart of all workers. */
  remove(worker: number): void
  /** Prometheus text. */
  text(): Promise<string>
}

/** Types whose values only grow. */
const GROWING = new Set(['counter', 'histogram'])

export function createMergedMetrics(): MergedMetrics {
  const current = new Map<number, readonly MetricValues[]>()
  let retired: Promise<readonly MetricValues[]> = Promise.resolve([])
  return {
    update: (worker, metrics) => void current.set(worker, metrics),
    remove(worker) {
      const last = current.get(worker)?.filter(({ type }) => GROWING.has(String(type))) ?? []
      current.delete(worker)
      retired = retired.then((before) => AggregatorRegistry.aggregate([[...before], last]).getMetricsAsJSON())
    },
    async text() {
      const kept = await retired
      return AggregatorRegistry.aggregate([...current.values(), kept].map((metrics) => [...metrics])).metrics()
    },
  }
}
