import type { Logger } from 'pino'
import type { AssetManifest } from '../../assets/manifest.ts'
import type { Admission } from '../../request/admission/admission.ts'
import type { Config } from '../../config/config.ts'
import { listenFault } from '../start-faults.ts'
import type { ServerProcess } from '../server-process.ts'
import type { ServeMetricsOptions } from './serve-metrics.ts'
import type { Measured, ServerMetrics } from './server-metrics.ts'
import type { ServerCaches } from './cache-metrics.ts'
import type { ReportStats } from '../../reports/report-counts.ts'

/** What metrics read from an application. */
interface MeasuredApp {
  readonly admission: Admission
  readonly caches: ServerCaches
  readonly redis: { readonly connected: boolean } | undefined
  readonly reports: { readonly stats: ReportStats }
}

/**
 * Metrics of a process that serves; `undefined`, and not loaded, without METRICS_PORT.
 * @param app called for each scrape; `undefined` before the application exists.
 * @param connections as `Server.getConnections`.
 */
export async function makeMetrics(
  { metricsPort, maxPendingRenders }: Config,
  { buildId }: AssetManifest,
  app: () => MeasuredApp | undefined,
  connections: CountConnections,
): Promise<ServerMetrics | undefined> {
  if (metricsPort === undefined) return undefined
  const { createServerMetrics } = await import('./server-metrics.ts')
  return createServerMetrics(measuredOf({ buildId, limit: maxPendingRenders }, app, connections))
}

/** As `Server.getConnections`. */
export type CountConnections = (listener: (error: Error | null, count: number) => void) => void

/**
 * What metrics read of an application.
 * @param connections `undefined` if the server is not ours.
 */
export function measuredOf(
  facts: Pick<Measured, 'buildId' | 'limit'>,
  app: () => MeasuredApp | undefined,
  connections: CountConnections | undefined,
): Measured {
  return {
    ...facts,
    admission: () => app()?.admission,
    sharedStore: () => app()?.redis?.connected,
    caches: () => app()?.caches,
    reports: () => app()?.reports.stats,
    async connections() {
      if (connections === undefined) return undefined
      return new Promise((resolve) => connections((_error, count) => resolve(count)))
    },
  }
}

/** Opens the metrics port; if that fails, ends the process with a one-line message. */
export async function openMetrics(
  { config, complain, leave }: ServerProcess,
  text: ServeMetricsOptions['text'],
  log: Logger,
): Promise<void> {
  const { serveMetrics } = await import('./serve-metrics.ts')
  try {
    log.info({ port: await serveMetrics({ config, text }) }, 'metrics are served')
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    complain(listenFault('METRICS_PORT', { host: config.host, port: config.metricsPort ?? 0 }, message))
    leave(1)
  }
}
