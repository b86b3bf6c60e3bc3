import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import type { LoadReading } from '../../request/admission/load-watch.ts'
import { contextOf } from '../../request/attached-context.ts'
import type { RequestObserver } from '../../request/request-log.ts'
import type { Measured } from '../metrics/server-metrics.ts'
import type { OpenedTelemetry } from './open-telemetry.ts'

/** Spans and metrics of OpenTelemetry, for applications that register a provider. */
export interface Telemetry {
  /** Middleware: later handlers run inside of the request's span. */
  readonly handler: RequestHandler
  /** Counts a finished request. */
  readonly observe: RequestObserver
  /** Takes the latest reading of the event loop. */
  load(reading: LoadReading): void
  /**
   * Looks whether a provider is registered, once; call it after the application's `start`. Without one nothing of
   * OpenTelemetry is loaded.
   */
  open(): Promise<void>
  /** Stops following and measuring. */
  dispose(): void
}

/** Parts of telemetry. */
interface TelemetryParts {
  readonly log: Logger
  readonly trustProxy: ProxyTrust
  readonly measured: Measured
}

/**
 * Where every copy of `@opentelemetry/api` 1.x keeps what is registered. A copy is often installed as the dependency of
 * another package, so that its presence says nothing; this tells without loading it.
 */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

interface Registered {
  readonly trace?: unknown
  readonly metrics?: unknown
}

/** Creates telemetry that is off until `open` finds a provider. */
export function createTelemetry({ log, trustProxy, measured }: TelemetryParts): Telemetry {
  let opening: Promise<void> | undefined
  let opened: OpenedTelemetry | undefined

  async function open(): Promise<void> {
    const registered = (globalThis as { [REGISTERED]?: Registered })[REGISTERED]
    const [hasTraces, hasMetrics] = [registered?.trace !== undefined, registered?.metrics !== undefined]
    if (!hasTraces && !hasMetrics) return
    try {
      const { openTelemetry } = await import('./open-telemetry.ts')
      opened = await openTelemetry({ hasTraces, hasMetrics, trustProxy, measured })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
      log.warn('OpenTelemetry is registered, but Millrace cannot load @opentelemetry/api: list it in dependencies')
    }
  }

  return {
    handler(req, _res, next) {
      const follow = opened?.follow
      if (follow === undefined) return next()
      const context = contextOf(req)
      const telemetry = follow(context)
      context.record.telemetry = telemetry
      telemetry.run(next)
    },
    observe(record) {
      opened?.meters?.observe(record)
    },
    load(reading) {
      opened?.meters?.load(reading)
    },
    open: () => (opening ??= open()),
    dispose() {
      opened?.dispose()
      opened = undefined
    },
  }
}
