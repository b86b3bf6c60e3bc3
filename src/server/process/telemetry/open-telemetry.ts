import { trace } from '@opentelemetry/api'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import type { Measured } from '../metrics/server-metrics.ts'
import type { Meters } from './meters.ts'
import { followFetches } from './outgoing-spans.ts'
import { followRequests, type FollowRequest } from './request-spans.ts'

/** What is registered with OpenTelemetry, and so has to be fed. */
interface OpenTelemetryParts {
  readonly hasTraces: boolean
  readonly hasMetrics: boolean
  readonly trustProxy: ProxyTrust
  readonly measured: Measured
}

/** Spans and metrics in progress. */
export interface OpenedTelemetry {
  readonly follow: FollowRequest | undefined
  readonly meters: Meters | undefined
  dispose(): void
}

/** Begins to follow requests and to measure: this file and what it imports are loaded for nothing else. */
export async function openTelemetry(parts: OpenTelemetryParts): Promise<OpenedTelemetry> {
  const tracer = parts.hasTraces ? trace.getTracer('millrace') : undefined
  const unfollow = tracer && followFetches(tracer)
  // It loads the library of `/metrics` too.
  const meters = parts.hasMetrics ? await (await import('./meters.ts')).openMeters(parts.measured) : undefined
  return {
    follow: tracer && followRequests(tracer, parts.trustProxy),
    meters,
    dispose() {
      unfollow?.()
      meters?.dispose()
    },
  }
}
