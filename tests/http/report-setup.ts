import type { RequestHandler } from 'express'
import { onTestFinished } from 'vitest'
import type { MillraceApp } from '../../src/server/app.ts'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { portOf } from '../support/listening.ts'
import { requestRaw } from '../support/raw-http.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { startReportSink, type ReportSink } from '../support/report-sink.ts'
import { page, tinyApp } from '../support/tiny-app.tsx'

/** A server with a relay, on a socket, and the service behind it. Everything ends with the test. */
export interface ReportServer {
  readonly app: MillraceApp
  readonly port: number
  readonly path: string
  readonly sink: ReportSink
  readonly dataDir: string
  readonly logs: readonly Record<string, unknown>[]
  /** Posts a body to the relay. */
  post(body: string | Buffer, headers?: Readonly<Record<string, string>>): Promise<RawResponse>
  /** Posts an envelope of this server's project. */
  report(items?: readonly ReportItem[], headers?: Readonly<Record<string, string>>): Promise<RawResponse>
  /** An envelope of this server's project. */
  envelope(items?: readonly ReportItem[], header?: object): Buffer
}

/** An item: its type, its payload, and more of its header. */
export type ReportItem = readonly [type: string, payload: object | Buffer, header?: object]

/** An error that is reported. */
export const CRASH: ReportItem = ['event', { exception: { values: [{ type: 'Error', value: 'broken' }] } }]

/** A new event id each time. */
export function newEventId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

/**
 * Starts one.
 * @param environment further variables; `SENTRY_DSN: ''` for the inbox.
 * @param middleware of the application.
 */
export async function startReportServer(
  environment: Readonly<Record<string, string>> = {},
  middleware: readonly RequestHandler[] = [],
): Promise<ReportServer> {
  const sink = await startReportSink()
  onTestFinished(() => sink.close())
  const { app, logs } = tinyApp({
    routes: { '/': { page: page(() => 'home') } } as never,
    environment: { SENTRY_DSN: sink.dsn, ...environment },
    middleware,
  })
  const port = await portOf(app)
  const path = app.reports.tunnelPath

  function envelope(items: readonly ReportItem[] = [CRASH], header: object = {}): Buffer {
    return serializeEnvelope({
      header: { event_id: newEventId(), dsn: app.reports.dsn, ...header },
      items: items.map(([type, payload, own]) => ({
        type,
        header: { type, ...own },
        payload: Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload)),
      })),
    })
  }

  const post: ReportServer['post'] = (body, headers = {}) => requestRaw(port, postRequest(path, body, headers))
  const report: ReportServer['report'] = (items, headers) => post(envelope(items), headers)
  return { app, port, path, sink, dataDir: app.dataDir, logs, post, report, envelope }
}

/** A POST as bytes, with its length. */
export function postRequest(
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const all = { Host: 'localhost', 'Content-Length': String(Buffer.byteLength(body)), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}
