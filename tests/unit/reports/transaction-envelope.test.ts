import { createTransport, getIsolationScope, NodeClient, Scope, SDK_VERSION, type Event } from '@sentry/node'
import { expect, test } from 'vitest'
import { parseEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { type TracedAnswer } from '../../../src/server/request/request-reporter.ts'
import { transactionOf } from '../../../src/server/reports/sdk/request-transaction.ts'
import { transactionEnvelope } from '../../../src/server/reports/sdk/transaction-envelope.ts'

const ID = '0123456789abcdef0123456789abcdef'
const SDK = { name: 'sentry.javascript.node', version: SDK_VERSION }

const ANSWER: TracedAnswer = {
  trace: {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: 'c'.repeat(16),
    sampled: true,
    sampling: { trace_id: 'a'.repeat(32), public_key: 'public', sample_rate: '0.05', sampled: 'true' },
  },
  client: '203.0.113.9',
  requestId: 'r-1',
  method: 'GET',
  route: '/mills/[id]',
  kind: 'document',
  status: 503,
  prefetch: false,
  aborted: false,
  untraced: false,
  startedAt: 10,
  endedAt: 30,
  spans: [
    { op: 'loader', name: '/mills/[id]#page', spanId: 'd'.repeat(16), startedAt: 11, endedAt: 20 },
    {
      op: 'http.client',
      name: 'GET https://api.example',
      spanId: 'e'.repeat(16),
      startedAt: 12,
      endedAt: 19,
      status: 404,
    },
  ],
}

/** What the SDK itself makes of an event. */
async function bySdk(event: Event): Promise<Buffer> {
  const sent: Buffer[] = []
  const client = new NodeClient({
    dsn: 'https://public@errors.example/1',
    release: 'r1',
    environment: 'production',
    includeServerName: false,
    enableRuntimeChannelInjection: false,
    stackParser: () => [],
    integrations: [],
    transport: (options) =>
      createTransport(options, async ({ body }) => {
        sent.push(Buffer.from(body as Uint8Array))
        return {}
      }),
    traceLifecycle: 'static',
    sendClientReports: false,
    _metadata: { sdk: SDK },
  })
  getIsolationScope().clearBreadcrumbs() // what tests of this process did before
  client.captureEvent(event, { event_id: ID }, new Scope())
  await client.close()
  return sent[0] ?? Buffer.alloc(0)
}

test('a transaction is written as the SDK would write it', async () => {
  const facts = { eventId: ID, release: 'r1', environment: 'production', sdk: SDK, runtime: process.version }
  const ours = parseEnvelope(transactionEnvelope(transactionOf(ANSWER, 1_000), facts))
  const theirs = parseEnvelope(await bySdk(transactionOf(ANSWER, 1_000)))
  const payloadOf = ({ items }: typeof ours): Record<string, unknown> => JSON.parse(String(items[0]?.payload))
  const { sent_at: _, ...header } = theirs.header
  // The SDK lists what is plugged into it: nothing here.
  expect(payloadOf(ours)).toEqual({ ...payloadOf(theirs), sdk: SDK })
  expect(ours.header).toEqual(header)
  expect(ours.items.map(({ type }) => type)).toEqual(theirs.items.map(({ type }) => type))
})
