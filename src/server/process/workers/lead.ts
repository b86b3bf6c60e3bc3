import { pino } from 'pino'
import { openMetrics } from '../metrics/open-metrics.ts'
import { onEndSignals } from '../end-signals.ts'
import type { ServerProcess } from '../server-process.ts'
import type { GatheredMetrics } from './gather-metrics.ts'
import { runPrimary } from './run-primary.ts'
import { workerProcesses } from './worker-group.ts'

/**
 * Runs this process as the primary: it owns the workers, signals, the metrics port and the line that announces the
 * start.
 * @param script absolute path of the workers' script.
 */
export async function lead(self: ServerProcess, script: string): Promise<void> {
  const { config, destination, announce, complain, leave } = self
  const log = pino({ level: config.logLevel, base: null }, destination)
  const metrics = config.metricsPort === undefined ? undefined : await gatherFromWorkers()
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
  onEndSignals(primary.stop)
}

/** Loads the metrics library only where metrics are served. */
async function gatherFromWorkers(): Promise<GatheredMetrics> {
  const { gatherMetrics } = await import('./gather-metrics.ts')
  return gatherMetrics(workerProcesses)
}
