import type { Page } from 'playwright-core'
import { browserTest, type OpenOptions } from './browser.ts'
import { startBuiltServer, type BuiltServer } from './built-server.ts'
import { startReportSink, type SinkRequest } from './report-sink.ts'

const TRACE = /sentry-trace;desc="([0-9a-f]{32})/

/** The payload of an item, as the service reads it. */
export type Report = Readonly<Record<string, unknown>>

/** A visitor whose reports can be told from those of others, by the browser's name. */
interface Visitor {
  readonly page: Page
  /** Payloads of one type that have come from this visitor's pages, each once for each time it came. */
  reports(type: 'event' | 'transaction' | 'span'): readonly Report[]
  /** Waits until so many have come. */
  until(type: 'event' | 'transaction' | 'span', count: number): Promise<readonly Report[]>
  /** Has an error thrown that nothing else throws, and waits for its report: what was thrown before has come by then. */
  settle(): Promise<void>
}

/** Starts an application whose reports go where the variables say; what it needs is cleaned up at the end. */
type StartReporting = (
  env: Readonly<Record<string, string>>,
  onCleanup: (clean: () => Promise<void>) => void,
) => Promise<BuiltServer>

/** `browserTest` of an application with a sink as its error service, all requests traced. */
export function reportingTestOf(start: StartReporting) {
  return browserTest
    .extend('sink', { scope: 'worker' }, async ({}, { onCleanup }) => {
      const sink = await startReportSink()
      onCleanup(() => sink.close())
      return sink
    })
    .override('server', { scope: 'worker' }, async ({ sink }, { onCleanup }) => {
      const cleaners: (() => Promise<void>)[] = []
      const env = { SENTRY_DSN: sink.dsn, SENTRY_TRACES_SAMPLE_RATE: '1' }
      const server = await start(env, (clean) => cleaners.push(clean))
      onCleanup(async () => {
        await server.stop()
        for (const clean of cleaners) await clean()
      })
      return server
    })
    .extend('visit', ({ open, sink }) => async (options: OpenOptions = {}): Promise<Visitor> => {
      const userAgent = `visitor ${crypto.randomUUID()}`
      const traces = new Set<string>()
      const allow = [...(options.allow ?? []), /The test is over/]
      const page = await open({ ...options, allow, context: { ...options.context, userAgent } })
      page.on('response', (response) => {
        const trace = TRACE.exec(response.headers()['server-timing'] ?? '')?.[1]
        if (trace !== undefined && response.request().isNavigationRequest()) traces.add(trace)
      })
      // What is sent while a page goes is sent by the browser itself, which does not know the name it was given.
      const isOwn = ({ headers, body }: SinkRequest): boolean =>
        headers['user-agent'] === userAgent ||
        (String(headers['user-agent']).includes('Headless') && [...traces].some((trace) => body.includes(trace)))
      const reports: Visitor['reports'] = (type) =>
        sink.requests
          .filter(isOwn)
          .flatMap(({ envelope }) => envelope?.items ?? [])
          .filter((item) => item.type === type)
          .map(({ payload }) => JSON.parse(payload.toString()) as Report)
          .filter((report) => !JSON.stringify(report).includes('The test is over'))
      return {
        page,
        reports,
        async until(type, count) {
          await sink.until(() => reports(type).length >= count)
          return reports(type)
        },
        async settle() {
          await untilReporting(page)
          await page.evaluate(() => void setTimeout(() => reportError(new Error('The test is over'))))
          await sink.until(({ requests }) =>
            requests.some(
              ({ headers, body }) => headers['user-agent'] === userAgent && body.includes('The test is over'),
            ),
          )
        },
      }
    })
}

/** That of the reference application. */
export const reportingTest = reportingTestOf((env) => startBuiltServer({ env }))

/** Waits until the SDK has taken over from the recorder. */
export async function untilReporting(page: Page): Promise<void> {
  await page.waitForFunction(() => '__SENTRY__' in window)
}
