import { expect, test } from 'vitest'
import { createServerMetrics } from '../../../src/server/process/metrics/server-metrics.ts'

/** The names of the library's own metrics, as they were with its predecessor `prom-client`: dashboards rest on them. */
const OF_THE_PROCESS = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_external_memory_bytes',
  'nodejs_gc_duration_seconds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_version_info',
  'process_cpu_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_user_seconds_total',
  'process_heap_bytes',
  'process_max_fds',
  'process_open_fds',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'process_virtual_memory_bytes',
]

const MEASURED = {
  buildId: 'x',
  admission: () => undefined,
  caches: () => undefined,
  reports: () => undefined,
  limit: 1,
  connections: () => Promise.resolve(0),
  sharedStore: () => undefined,
}

test('metrics of the process have the names that dashboards know, and there are no others', async () => {
  const text = await createServerMetrics(MEASURED).registry.metrics()
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
  const ofProcess = names.filter((name) => !name.startsWith('millrace_'))
  expect(ofProcess.filter((name) => !OF_THE_PROCESS.includes(name))).toEqual([])
  // Elsewhere the system does not tell the memory and the files of a process.
  if (process.platform === 'linux') expect(ofProcess.toSorted()).toEqual(OF_THE_PROCESS)
})
