/**
 * The error service's SDK as this server uses it: events are made by it and handed to the intake, not sent by it. None of
 * its instrumentation is loaded, and nothing global is touched. This module is loaded with the first report.
 */
import { randomUUID } from 'node:crypto'
import {
  createTransport,
  defaultStackParser,
  linkedErrorsIntegration,
  NodeClient,
  Scope,
  SDK_VERSION,
  type Event,
} from '@sentry/node'
import { clientReportEnvelope } from '../spool/outcomes.ts'
import type { RequestTrace } from '../../request/request-trace.ts'
import { transactionEnvelope } from './transaction-envelope.ts'

/** What is known of a failure beyond what was thrown. */
export interface FailureFacts {
  /** Where it was thrown: a `FailurePlace`, or how it got to the end of the process. */
  readonly place: string
  readonly level: 'error' | 'fatal'
  readonly tags: Readonly<Record<string, string>>
  /** Method and pattern; `undefined` outside of requests. */
  readonly transaction: string | undefined
  readonly trace: RequestTrace | undefined
  /** On whose behalf it happened, as `clientKey` names it; handed on beside the envelope, and no part of it. */
  readonly client: string | undefined
}

/** Makes envelopes of what happens on this server. */
export interface ReportClient {
  captureFailure(thrown: unknown, facts: FailureFacts): void
  /** @param event of type `transaction`. */
  captureTransaction(event: Event): void
  /** Tells the service of what was not reported because it was too much. */
  captureLoss(category: 'error' | 'transaction', quantity: number): void
  /** Resolves when all that was captured has been handed on. */
  flush(): Promise<void>
  /** Takes nothing more. */
  dispose(): void
}

/** What a client is made with. */
export interface ReportClientOptions {
  readonly dsn: string
  readonly release: string
  readonly environment: string
  /** Takes an envelope; what it throws loses this envelope and nothing else. */
  readonly hand: (envelope: Buffer, category: 'error' | 'transaction', client?: string) => void
}

interface EnvelopeHeader {
  readonly event_id?: string
}

const SDK = { name: 'sentry.javascript.node', version: SDK_VERSION } as const
const FLUSH_LIMIT_MS = 2_000 // events are made within some turns of the event loop

/**
 * Makes a client.
 * @param clients of events on their way from `beforeSend` to the transport, by event id; for tests.
 */
export function createReportClient(
  { dsn, release, environment, hand }: ReportClientOptions,
  clients = new Map<string, string>(),
): ReportClient {
  function handError(envelope: Buffer): void {
    const { event_id: eventId = '' } = JSON.parse(
      envelope.toString('utf8', 0, envelope.indexOf('\n')),
    ) as EnvelopeHeader
    const of = clients.get(eventId)
    clients.delete(eventId)
    hand(envelope, 'error', of)
  }

  const client = new NodeClient({
    dsn,
    release,
    environment,
    includeServerName: false,
    enableRuntimeChannelInjection: false,
    stackParser: defaultStackParser,
    integrations: [linkedErrorsIntegration()],
    // Nothing is sent from here, so nothing has to wait for anything.
    transport: (options) =>
      createTransport({ ...options, bufferSize: Infinity }, async ({ body }) => {
        handError(Buffer.from(body as Uint8Array))
        return {}
      }),
    traceLifecycle: 'static',
    sendClientReports: false,
    maxBreadcrumbs: 0,
    beforeSend(event, { data: of }) {
      // What was thrown and is no error is put here whole, with whatever it holds.
      delete event.extra?.['__serialized__']
      // Not before: the SDK drops an error that it has seen, without a word.
      if (typeof of === 'string') clients.set(event.event_id ?? '', of)
      return event
    },
    _metadata: { sdk: SDK },
  })
  client.init()

  return {
    captureFailure(thrown, facts) {
      const { place, client: of } = facts
      const mechanism = { type: `auto.http.millrace.${place}`, handled: false }
      // The SDK puts a thrown value into a sentence, which throws for a symbol.
      const told = typeof thrown === 'symbol' ? String(thrown) : thrown
      // Without `originalException` the SDK looks for no causes.
      client.captureException(told, { data: of, mechanism, originalException: told }, scopeOf(facts))
    },
    captureTransaction(event) {
      const eventId = randomUUID().replaceAll('-', '')
      hand(
        transactionEnvelope(event, { eventId, release, environment, sdk: SDK, runtime: process.version }),
        'transaction',
      )
    },
    captureLoss(category, quantity) {
      hand(clientReportEnvelope([{ reason: 'ratelimit_backoff', category, quantity }], Date.now()), 'error')
    },
    async flush() {
      await client.flush(FLUSH_LIMIT_MS)
    },
    dispose: () => void client.close(0),
  }
}

function scopeOf({ level, tags, transaction, trace }: FailureFacts): Scope {
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
  return scope
}
