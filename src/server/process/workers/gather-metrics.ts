import type { Worker } from 'node:cluster'
import { Counter, Gauge, Registry } from '@prometheus-io/client'
import { createMergedMetrics, type MetricValues } from '../metrics/merge-metrics.ts'
import { createRollCall } from './roll-call.ts'

const PATIENCE_MS = 2_000 // a worker that is busier counts with its last values

/** Metrics of all workers, gathered for each scrape. */
export interface GatheredMetrics {
  /** Asks all workers. */
  text(): Promise<string>
  /** Takes the answer of a worker. */
  take(worker: number, asked: number, metrics: readonly MetricValues[]): void
  /** Notes that a worker has ended; `asked` if this was requested. */
  remove(worker: number, asked: boolean): void
}

/** @param workers called for each scrape. */
export function gatherMetrics(workers: () => readonly Worker[]): GatheredMetrics {
  const merged = createMergedMetrics()
  const own = new Registry()
  const registers = [own]
  const alive = new Gauge({ name: 'millrace_workers', help: 'Live worker processes.', registers })
  const deaths = new Counter({
    name: 'millrace_worker_deaths_total',
    help: 'Workers that have ended unexpectedly.',
    registers,
  })
  const calls = createRollCall()

  return {
    async text() {
      const all = workers().filter((worker) => worker.isConnected())
      await calls.ask(all, (asked) => ({ kind: 'metrics', asked }), PATIENCE_MS)
      alive.set(all.length)
      return `${await merged.text()}\n${await own.metrics()}`
    },
    take(worker, question, metrics) {
      merged.update(worker, metrics)
      calls.answer(worker, question)
    },
    remove(worker, asked) {
      if (!asked) deaths.inc()
      merged.remove(worker)
      calls.remove(worker)
    },
  }
}
