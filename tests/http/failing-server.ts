import { onTestFinished } from 'vitest'
import type { MillraceApp } from '../../src/server/app.ts'
import { startReportSink, type ReportSink } from '../support/report-sink.ts'
import { tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

/** A payload, parsed. */
export type Json = Readonly<Record<string, unknown>>

/** A server whose reports end in a sink. Everything ends with the test. */
interface FailingServer {
  readonly app: MillraceApp
  readonly sink: ReportSink
  readonly logs: readonly Record<string, unknown>[]
  /** Payloads of one type that have come so far, once all that was reported has been sent. */
  reported(type: 'event' | 'transaction'): Promise<readonly Json[]>
}

/** Starts one; nothing listens, it is for supertest. */
export async function failingServer(
  options: Partial<TinyAppOptions> & Pick<TinyAppOptions, 'routes'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<FailingServer> {
  const sink = await startReportSink()
  onTestFinished(() => sink.close())
  const { app, logs } = tinyApp({
    ...options,
    environment: { SENTRY_DSN: sink.dsn, SENTRY_RELEASE: 'r1', ...environment },
  })
  return {
    app,
    sink,
    logs,
    async reported(type) {
      await app.reporter?.flush()
      await app.reports.flush(AbortSignal.timeout(5_000))
      const items = sink.accepted().flatMap(({ envelope }) => envelope?.items ?? [])
      return items.filter((item) => item.type === type).map(({ payload }) => JSON.parse(payload.toString()) as Json)
    },
  }
}
