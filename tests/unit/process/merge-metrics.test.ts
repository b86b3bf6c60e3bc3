import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { expect, test } from 'vitest'
import { createMergedMetrics, type MetricValues } from '../../../src/server/process/metrics/merge-metrics.ts'

/** Metrics of a worker that has counted so much. */
async function worker(count: number): Promise<readonly MetricValues[]> {
  const registers = [new Registry()]
  const requests = new Counter({ name: 'requests_total', help: 'x', labelNames: ['route'], registers })
  requests.inc({ route: '/' }, count)
  new Histogram({ name: 'seconds', help: 'x', buckets: [1], registers }).observe(count)
  new Gauge({ name: 'busy', help: 'x', registers }).set(count)
  new Gauge({ name: 'worst', help: 'x', aggregator: 'max', registers }).set(count)
  return registers[0]?.getMetricsAsJSON() ?? []
}

test('workers are shown as one server, by sum or as each metric says', async () => {
  const merged = createMergedMetrics()
  merged.update(1, await worker(2))
  merged.update(2, await worker(3))
  const text = await merged.text()
  for (const line of ['requests_total{route="/"} 5', 'seconds_sum 5', 'seconds_count 2', 'busy 5', 'worst 3']) {
    expect(text.split('\n')).toContain(line)
  }
})

test('what a worker has counted is still counted when it is gone, and what it held is not', async () => {
  const merged = createMergedMetrics()
  for (const id of [1, 2, 3]) merged.update(id, await worker(id))
  merged.remove(1)
  merged.remove(2)
  merged.remove(77)
  const text = await merged.text()
  for (const line of ['requests_total{route="/"} 6', 'seconds_count 3', 'busy 3', 'worst 3']) {
    expect(text.split('\n')).toContain(line)
  }
})
