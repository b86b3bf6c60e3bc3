/**
 * The error service's SDK as this server uses it: events are made by it and handed to the intake, not sent by it. None of
 * its instrumentation is loaded, and nothing global is touched. This module is loaded with the first report.
 */
import {
  createClientReportEnvelope,
  createStackParser,
  linkedErrorsIntegration,
  Scope,
  SDK_VERSION,
  serializeEnvelope,
  type Envelope,
  type TransactionEvent,
} from '@sentry/core'
import { nodeStackLineParser, ServerRuntimeClient } from '@sentry/core/server'
import { reportableEvent } from '../../../shared/reports/reportable-event.ts'
import type { RequestTrace } from './request-trace.ts'

/** What is known of a failure beyond what was thrown. */
export interface FailureFacts {
  /** Where it was thrown: a `FailurePlace`, or how it got to the end of the process. */
  readonly place: string
  readonly level: 'error' | 'fatal'
  readonly tags: Readonly<Record<string, string>>
  /** Method and pattern; `undefined` outside of requests. */
  readonly transaction: string | undefined
  readonly trace: RequestTrace | undefined
}

/** Makes envelopes of what happens on this server. */
export interface ReportClient {
  captureFailure(thrown: unknown, facts: FailureFacts): void
  captureTransaction(event: TransactionEvent): void
  /** Tells the service of what was not reported because it was too much. */
  captureLoss(category: 'error' | 'transaction', quantity: number): void
  /** Resolves when all that was captured has been handed on. */
  flush(): Promise<void>
}

/** What a client is made with. */
export interface ReportClientOptions {
  readonly dsn: string
  readonly release: string
  readonly environment: string
  readonly relayPath: string
  /** Takes an envelope; what it throws loses this envelope and nothing else. */
  readonly hand: (envelope: Buffer) => void
}

const FLUSH_LIMIT_MS = 2_000 // events are made within some turns of the event loop

/** Makes a client. */
export function createReportClient({ dsn, release, environment, relayPath, hand }: ReportClientOptions): ReportClient {
  const client = new ServerRuntimeClient({
    dsn,
    release,
    environment,
    platform: 'node',
    runtime: { name: 'node', version: process.version },
    stackParser: createStackParser(nodeStackLineParser()),
    integrations: [linkedErrorsIntegration()],
    transport: () => ({
      send(envelope) {
        hand(bytesOf(envelope))
        return Promise.resolve({})
      },
      flush: () => Promise.resolve(true),
    }),
    traceLifecycle: 'static',
    sendClientReports: false,
    maxBreadcrumbs: 0,
    beforeSend(event) {
      // What was thrown and is no error is put here whole, with whatever it holds.
      delete event.extra?.['__serialized__']
      return reportableEvent(event, relayPath) ?? null
    },
    beforeSendTransaction: (event) => reportableEvent(event, relayPath) ?? null,
    _metadata: { sdk: { name: 'sentry.javascript.node', version: SDK_VERSION } },
  })
  client.init()

  return {
    captureFailure(thrown, { place, level, tags, transaction, trace }) {
      const scope = new Scope()
      scope.setLevel(level)
      scope.setTags(tags)
      if (transaction !== undefined) scope.setTransactionName(transaction)
      if (trace !== undefined) {
        const { traceId, spanId, parentSpanId, sampled } = trace
        scope.setPropagationContext({
          traceId,
          propagationSpanId: spanId,
          ...(parentSpanId === undefined ? {} : { parentSpanId }),
          ...(sampled === undefined ? {} : { sampled }),
          sampleRand: 0,
        })
      }
      // Causes are looked for in the original, which only a scope's own method hands on.
      const mechanism = { type: `auto.http.millrace.${place}`, handled: false }
      client.captureException(thrown, { mechanism, originalException: thrown }, scope)
    },
    captureTransaction: (event) => void client.captureEvent(event, {}, new Scope()),
    captureLoss(category, quantity) {
      hand(bytesOf(createClientReportEnvelope([{ reason: 'ratelimit_backoff', category, quantity }], dsn)))
    },
    async flush() {
      await client.flush(FLUSH_LIMIT_MS)
    },
  }
}

function bytesOf(envelope: Envelope): Buffer {
  const serialized = serializeEnvelope(envelope)
  return typeof serialized === 'string' ? Buffer.from(serialized) : Buffer.from(serialized)
}
