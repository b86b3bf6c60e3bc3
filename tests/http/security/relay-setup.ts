/** A relay under replay, with a service behind it that writes down what comes. */
import { afterAll, expect } from 'vitest'
import { serializeEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { derivedTunnelPath } from '../../../src/server/config/tunnel-path.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { SECRETS, type HeaderLines, type ReplayServer } from '../../support/replay-server.ts'
import { startReportSink, type SinkRequest } from '../../support/report-sink.ts'

/** The service. It ends after the servers of the file that imports this. */
export const sink = await startReportSink()
afterAll(() => sink.close())

/** The DSN as pages have it. */
export const OWN = sink.dsn
/** With the secret that services once gave out: the oracles look for it in every answer and in the log. */
export const SENTRY_DSN = OWN.replace('public@', `public:${SECRETS[1]}@`)
/** Path of the relay. */
export const RELAY = derivedTunnelPath(SENTRY_DSN)

/** An item: its type, its payload, and more of its header. */
export type Item = readonly [type: string, payload: string | Buffer, header?: object]

/** An error. */
export const EVENT: Item = ['event', '{"exception":{"values":[{"type":"Error","value":"broken"}]}}']

/** A new one each time. */
export function newEventId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

/** An envelope of this site's project, unless its header says otherwise. */
export function envelope(items: readonly Item[] = [EVENT], header: object = {}): Buffer {
  return serializeEnvelope({
    header: { event_id: newEventId(), dsn: OWN, ...header },
    items: items.map(([type, payload, own]) => ({
      type,
      header: { type, ...own },
      payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload),
    })),
  })
}

/** An envelope of lines as they stand. */
export function lines(...texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.join('\n')}\n`)
}

/** Sends one as browsers do. */
export function report(
  site: ReplayServer,
  body: string | Uint8Array = envelope(),
  headers?: HeaderLines,
  host?: string,
): Promise<RawResponse> {
  return site.post(RELAY, body, { 'Content-Type': 'text/plain;charset=UTF-8', ...headers }, host)
}

/** What reaches the service while something is done. An ordinary report is sent before and behind it, and waited for. */
export async function arrivals(site: ReplayServer, work: () => Promise<unknown>): Promise<readonly SinkRequest[]> {
  await passes(site)
  const before = sink.requests.length
  await work()
  const last = await passes(site)
  return sink.requests.slice(before).filter(({ eventId }) => eventId !== last)
}

/** Envelopes of one client are delivered in their order, so what was sent before is there, too. */
async function passes(site: ReplayServer): Promise<string> {
  const id = newEventId()
  expect((await report(site, envelope([EVENT], { event_id: id }))).status).toBe(200)
  await sink.until(({ requests }) => requests.some(({ eventId }) => eventId === id))
  return id
}
