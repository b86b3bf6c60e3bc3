import { context, metrics, propagation, trace } from '@opentelemetry/api'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, vi } from 'vitest'
import { startTelemetry } from '../fixtures/recipes/telemetry/telemetry.server.ts'
import { startOtlpCollector, type CollectedSpan, type OtlpCollector } from './otlp-collector.ts'
import { tinyApp, type TinyApp, type TinyAppOptions } from './tiny-app.tsx'

/** Applications whose telemetry reaches a stand-in of a collector. */
interface FollowedApps {
  /** Of the test that runs. */
  readonly collector: OtlpCollector
  /**
   * Starts an application that sends its telemetry as the handbook shows it.
   * @param share of the requests that are traced.
   */
  followed(options: TinyAppOptions, share?: number): Promise<TinyApp>
  /** Ends the applications and their telemetry. @returns the spans that the collector has got. */
  told(): Promise<readonly CollectedSpan[]>
}

/** For a test file: makes a collector for each test, and ends what the test has started. */
export function followApps(): FollowedApps {
  const open: { collector?: OtlpCollector } = {}
  const stops: (() => Promise<unknown>)[] = []
  const collector = (): OtlpCollector => {
    if (open.collector === undefined) throw new Error('No test is running')
    return open.collector
  }

  async function told(): Promise<readonly CollectedSpan[]> {
    for (const stop of stops.splice(0)) await stop()
    for (const api of [trace, metrics, context, propagation]) api.disable()
    return collector().spans
  }

  beforeEach(async () => {
    open.collector = await startOtlpCollector()
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', open.collector.endpoint)
  })
  afterEach(async () => {
    await told()
    vi.unstubAllEnvs()
    await collector()[Symbol.asyncDispose]()
  })

  return {
    get collector() {
      return collector()
    },
    async followed(options, share = 1) {
      const tiny = tinyApp({ ...options, start: () => startTelemetry('mills', share) })
      await tiny.app.life.start()
      stops.push(async () => {
        await tiny.app.life.stop(AbortSignal.timeout(5_000))
        tiny.app.dispose()
      })
      return tiny
    },
    told,
  }
}

/** Names as a tree: children by their end, indented. Spans have clocks of their own, which differ by parts of a millisecond. */
export function treeOf(spans: readonly CollectedSpan[], parent?: string, depth = 0): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  return spans
    .filter((span) => (parent === undefined ? !known.has(span.parentSpanId ?? '') : span.parentSpanId === parent))
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...treeOf(spans, span.spanId, depth + 1)])
}

/** The only span of this name. */
export function named(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name)
  expect(found.map((span) => span.name)).toEqual([name])
  return found[0] as CollectedSpan
}

/** @returns the origin of a server of this application. */
export async function listening(app: TinyApp['app']): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Another service, which answers `corn`. */
export async function otherService() {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((req, res) => {
    seen.push(req.headers)
    if (req.url === '/gone') return void req.socket.destroy()
    res.writeHead(req.url === '/busy' ? 503 : 200).end('corn')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    released: Promise.withResolvers<void>(),
  }
}
