/**
 * The error service's SDK as this server uses it: it creates events and passes them to the intake, but sends nothing.
 * None of its instrumentation is loaded, and no globals are changed. The first report loads this module.
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

/** Facts about a failure besides the thrown value. */
export interface FailureFacts {
  /** Where it was thrown: a `FailurePlace`, or how it reached the end of the process. */
  readonly place: string
  readonly level: 'error' | 'fatal'
  readonly tags: Readonly<Record<string, string>>
  /** Method and pattern; `undefined` outside of requests. */
  readonly transaction: string | undefined
  readonly trace: RequestTrace | undefined
  /** The client of the request, as `clientKey` names it; passed on beside the envelope, not inside it. */
  readonly client: string | undefined
}

/** Makes envelopes of events on this server. */
export interface ReportClient {
  captureFailure(thrown: unknown, facts: FailureFacts): void
  /** @param event of type `transaction`. */
  captureTransaction(event: Event): void
  /** Reports how many events were dropped by our limits. */
  captureLoss(category: 'error' | 'transaction', quantity: number): void
  /** Resolves when everything captured has been passed on. */
  flush(): Promise<void>
  /** Stops capturing. */
  dispose(): void
}

/** Options of a client. */
export interface ReportClientOptions {
  readonly dsn: string
  readonly release: string
  readonly environment: string
  /** Takes an envelope; an error that it throws loses only this envelope. */
  readonly hand: (envelope: Buffer, category: 'error' | 'transaction', client?: string) => void
}

interface EnvelopeHeader {
  readonly event_id?: string
}

const SDK = { name: 'sentry.javascript.node', version: SDK_VERSION } as const
const MOST_FRAMES = 50 // more are left out by the SDK
const FLUSH_LIMIT_MS = 10_000 // for hangs: events are made within some turns of the event loop, which a busy machine may not give for seconds

/**
 * Creates a client.
 * @param clients of events between `beforeSend` and the transport, by event id; for tests.
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
    stackParser: (stack, skipFirst, framesToPop) => defaultStackParser(...framesOf(stack, skipFirst), framesToPop),
    integrations: [linkedErrorsIntegration()],
    // Nothing is sent from here, so nothing has to wait.
    transport: (options) =>
      createTransport({ ...options, bufferSize: Infinity }, async ({ body }) => {
        handError(Buffer.from(body as Uint8Array))
        return {}
      }),
    traceLifecycle: 'static',
    sendClientReports: false,
    maxBreadcrumbs: 0,
    beforeSend(event, { data: of }) {
      // The SDK puts a thrown value that is not an error here, with everything it contains.
      delete event.extra?.['__serialized__']
      // Not earlier: the SDK silently drops an error that it has seen.
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
      // Without `originalException` the SDK does not follow causes.
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

/**
 * Leaves the lines of a stack that can be frames: the platform wrote no more than its limit, at the end. A message stands
 * in front of them; if a visitor's text is in it, its lines would be taken for frames, and looked at for a millisecond each.
 * @returns the lines, and how many of them to skip.
 */
function framesOf(stack: string, skipFirst = 0): readonly [lines: string, skipFirst: number] {
  const limit = Math.min(MOST_FRAMES, Error.stackTraceLimit || MOST_FRAMES)
  const lines = stack.split('\n')
  const dropped = Math.max(0, lines.length - limit)
  return [lines.slice(dropped).join('\n'), Math.max(0, skipFirst - dropped)]
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
