import cluster, { type Worker } from 'node:cluster'
import { pino } from 'pino'
import { openMetrics } from '../metrics/open-metrics.ts'
import { hearEndSignals } from '../end-signals.ts'
import type { ServerProcess } from '../server-process.ts'
import type { GatheredMetrics } from './gather-metrics.ts'
import { runPrimary } from './run-primary.ts'

/**
 * Runs this process as the primary: it has the workers, the signals, the metrics port and the last line of the start.
 * @param script absolute path of what workers run.
 */
export async function lead(self: ServerProcess, script: string): Promise<void> {
  const { config, destination, announce, complain, leave } = self
  const log = pino({ level: config.logLevel, base: null }, destination)
  const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const metrics = config.metricsPort === undefined ? undefined : await gatherFrom(workers)
  if (metrics !== undefined) await openMetrics(self, metrics.text, log)
  const primary = runPrimary({
    config,
    script,
    log,
    metrics,
    onComplete: (port) => announce(`Millrace is listening on http://localhost:${port}`),
    complain,
    leave,
  })
  hearEndSignals(primary.stop)
}

/** The metrics library is loaded only where something asks for metrics. */
async function gatherFrom(workers: () => readonly Worker[]): Promise<GatheredMetrics> {
  const { gatherMetrics } = await import('./gather-metrics.ts')
  return gatherMetrics(workers)
}
