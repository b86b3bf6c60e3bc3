import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as a collector gets it. */
export interface CollectedSpan {
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  /** 0 unset, 2 error. */
  readonly status: number
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
}

/** A metric as a collector gets it: the last value of each series. */
interface CollectedPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** Of a histogram: how many were recorded. */
  readonly value: number
}

/** A stand-in of a collector of OTLP over HTTP, as JSON. */
export interface OtlpCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string
  /** In the order in which they have ended. */
  readonly spans: readonly CollectedSpan[]
  readonly points: readonly CollectedPoint[]
  /** Everything that was sent, as text. */
  readonly text: () => string
  [Symbol.asyncDispose](): Promise<void>
}

// oxlint-disable-next-line typescript/no-explicit-any -- the format has many levels, and a slip fails the test that reads it
type Json = Readonly<Record<string, any>>

/** Starts a collector on the loopback. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const points = new Map<string, CollectedPoint>()
  let text = ''
  const server = createServer(async (req, res) => {
    let body = ''
    for await (const chunk of req.setEncoding('utf8')) body += chunk
    text += body
    const sent = JSON.parse(body) as Json
    if (req.url === '/v1/traces') spans.push(...spansIn(sent))
    if (req.url === '/v1/metrics') {
      for (const point of pointsIn(sent)) points.set(JSON.stringify([point.metric, point.attributes]), point)
    }
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get points() {
      return [...points.values()]
    },
    text: () => text,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function spansIn({ resourceSpans = [] }: Json): CollectedSpan[] {
  return (resourceSpans as Json[])
    .flatMap(({ scopeSpans }) => scopeSpans as Json[])
    .flatMap((scope) => scope['spans'] as Json[])
    .map((span) => ({
      name: span['name'],
      kind: span['kind'],
      traceId: span['traceId'],
      spanId: span['spanId'],
      parentSpanId: span['parentSpanId'] === '' ? undefined : span['parentSpanId'],
      attributes: attributesOf(span['attributes']),
      status: span['status']?.code ?? 0,
      links: span['links'] ?? [],
    }))
}

function pointsIn({ resourceMetrics = [] }: Json): CollectedPoint[] {
  return (resourceMetrics as Json[])
    .flatMap(({ scopeMetrics }) => scopeMetrics as Json[])
    .flatMap((scope) => scope['metrics'] as Json[])
    .flatMap((metric) => {
      const { dataPoints = [] } = (metric['sum'] ?? metric['gauge'] ?? metric['histogram']) as Json
      return (dataPoints as Json[]).map((point) => ({
        metric: metric['name'],
        unit: metric['unit'],
        attributes: attributesOf(point['attributes']),
        value: Number(point['asDouble'] ?? point['asInt'] ?? point['count']),
      }))
    })
}

function attributesOf(listed: readonly Json[] = []): Record<string, unknown> {
  return Object.fromEntries(
    listed.map(({ key, value }) => {
      const [plain] = Object.values(value as Json)
      return [key, 'intValue' in value ? Number(plain) : plain]
    }),
  )
}
