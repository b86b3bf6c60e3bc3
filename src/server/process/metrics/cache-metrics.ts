import {
  Counter,
  Gauge,
  type CounterConfiguration,
  type GaugeConfiguration,
  type Registry,
} from '@prometheus-io/client'
import type { DataCacheStats } from '../../stores/cache/data-cache.ts'
import type { DocumentCacheStats } from '../../stores/cache/document-cache.ts'

/** What is counted where it happens, and read when somebody asks for the metrics. */
type Caches = Pick<ServerCaches, 'data' | 'documents'>

/**
 * Adds the metrics of the data cache and of the documents for times of overload.
 * @param caches asked late: metrics are made first.
 */
export function addCacheMetrics(registry: Registry, caches: () => Caches | undefined): void {
  const registers = [registry]
  const counter = (options: CounterConfiguration<string>): Counter => new Counter({ ...options, registers })
  const gauge = (options: GaugeConfiguration<string>): Gauge => new Gauge({ ...options, registers })

  /** A counter whose values are sums already. */
  const sums = (
    name: string,
    help: string,
    label: string,
    values: (caches: Caches) => Readonly<Record<string, number>>,
  ): void => {
    counter({
      name,
      help,
      labelNames: [label],
      collect() {
        this.reset()
        const known = caches()
        if (known === undefined) return
        for (const [value, sum] of Object.entries(values(known))) {
          this.inc({ [label]: value }, sum)
        }
      },
    })
  }
  const level = (name: string, help: string, value: (caches: Caches) => number | undefined): void => {
    gauge({
      name,
      help,
      collect() {
        const known = caches()
        this.set((known && value(known)) ?? 0)
      },
    })
  }

  sums(
    'millrace_data_cache_requests_total',
    'What was asked of the data cache: answered by a fresh value of this process (hit), a stale one, or after waiting (miss).',
    'result',
    ({ data }) => ({ hit: data?.hits ?? 0, stale: data?.stale ?? 0, miss: data?.misses ?? 0 }),
  )
  sums(
    'millrace_data_cache_fills_total',
    'Values that came into the data cache: made, taken from the shared store, or failed to be made.',
    'source',
    ({ data }) => ({ made: data?.made ?? 0, shared: data?.shared ?? 0, failed: data?.failed ?? 0 }),
  )
  level('millrace_data_cache_entries', 'Values in the data cache.', ({ data }) => data?.entries)
  level('millrace_data_cache_bytes', 'Bytes of the values in the data cache.', ({ data }) => data?.bytes)
  counter({
    name: 'millrace_kept_documents_total',
    help: 'Documents given out again instead of a refusal.',
    collect() {
      this.reset()
      this.inc(caches()?.documents.served ?? 0)
    },
  })
  level(
    'millrace_kept_document_entries',
    'Documents that are kept for times of overload.',
    ({ documents }) => documents.entries,
  )
  level('millrace_kept_document_bytes', 'Bytes of those documents, all codings.', ({ documents }) => documents.bytes)
}

/** What this process keeps of what it has made. */
export interface ServerCaches {
  /** Drops tags and paths, because another process says so. */
  drop(targets: readonly string[]): void
  /** Numbers of the data cache; `undefined` while nobody has used it. */
  readonly data: DataCacheStats | undefined
  /** Numbers of the documents that are kept for times of overload. */
  readonly documents: DocumentCacheStats
}
