import type { Worker } from 'node:cluster'
import { Counter, Gauge, Registry } from '@prometheus-io/client'
import { createMergedMetrics, type MetricValues } from '../metrics/merge-metrics.ts'
import { createRollCall } from './roll-call.ts'

/** A worker that is too busy to answer in time counts with what it last said. */
const PATIENCE_MS = 2_000

/** Metrics of all workers, gathered when somebody asks. */
export interface GatheredMetrics {
  /** Asks all workers. */
  text(): Promise<string>
  /** A worker has answered. */
  take(worker: number, asked: number, metrics: readonly MetricValues[]): void
  /** A worker is gone; `asked` if it was told to. */
  remove(worker: number, asked: boolean): void
}

/** @param workers those that there are when it is called. */
export function gatherMetrics(workers: () => readonly Worker[]): GatheredMetrics {
  const merged = createMergedMetrics()
  const own = new Registry()
  const registers = [own]
  const alive = new Gauge({ name: 'millrace_workers', help: 'Worker processes that are alive.', registers })
  const deaths = new Counter({
    name: 'millrace_worker_deaths_total',
    help: 'Workers that have ended without being asked to.',
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
