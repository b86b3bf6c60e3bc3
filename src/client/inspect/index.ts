/**
 * Public interface for inspectors of the client router, beside `millrace`. A separate entry point, so that pages without
 * an inspector do not load it. Safe on the server and in the browser.
 */
export { Inspector, type InspectorProps } from './inspector.tsx'
export { useInsight } from './use-insight.ts'
export { inspectorTables, type InspectorFacts } from './inspector-tables.ts'
export type { RouterInsight } from './router-insight.ts'
export type {
  InspectorCell,
  InspectorRow,
  InspectorTable,
  InspectorTone,
  NavigationPhases,
  WaterfallBar,
} from './inspector-table.ts'
export type { CacheEntry, EntryState } from '../core/data/route-cache.ts'
export type { NavigationRecord, RequestRecord } from '../core/data/journal.ts'
export type { Prefetching, PrefetchJob } from '../core/prefetch/prefetch-scheduler.ts'
