import type { Registry } from '@prometheus-io/client'
import type { DataCacheStats } from '../../stores/cache/data-cache.ts'
import type { DocumentCacheStats } from '../../stores/cache/document-cache.ts'
import { metricMakers } from './metric-makers.ts'

/** What each scrape reads. */
type Caches = Pick<ServerCaches, 'data' | 'documents'>

/**
 * Adds the metrics of the data cache and of kept documents.
 * @param caches called for each scrape; `undefined` before the server exists.
 */
export function addCacheMetrics(registry: Registry, caches: () => Caches | undefined): void {
  const { counter, gauge } = metricMakers(registry)

  /** A counter that mirrors sums kept elsewhere. */
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
    'Lookups in the data cache: answered with a fresh value of this process (hit), a stale one, or after waiting (miss).',
    'result',
    ({ data }) => ({ hit: data?.hits ?? 0, stale: data?.stale ?? 0, miss: data?.misses ?? 0 }),
  )
  sums(
    'millrace_data_cache_fills_total',
    'New values for the data cache: made, taken from the shared store, or failed.',
    'source',
    ({ data }) => ({ made: data?.made ?? 0, shared: data?.shared ?? 0, failed: data?.failed ?? 0 }),
  )
  level('millrace_data_cache_entries', 'Values in the data cache.', ({ data }) => data?.entries)
  level('millrace_data_cache_bytes', 'Bytes of the values in the data cache.', ({ data }) => data?.bytes)
  counter({
    name: 'millrace_kept_documents_total',
    help: 'Kept documents that were sent instead of a refusal.',
    collect() {
      this.reset()
      this.inc(caches()?.documents.served ?? 0)
    },
  })
  level('millrace_kept_document_entries', 'Documents that are kept for overload.', ({ documents }) => documents.entries)
  level('millrace_kept_document_bytes', 'Bytes of those documents, all codings.', ({ documents }) => documents.bytes)
}

/** The caches of this process. */
export interface ServerCaches {
  /** Drops tags and paths that another process has revalidated. */
  drop(targets: readonly string[], at?: number): void
  /** Numbers of the data cache; `undefined` before its first use. */
  readonly data: DataCacheStats | undefined
  /** Numbers of the documents kept for times of overload. */
  readonly documents: DocumentCacheStats
}
