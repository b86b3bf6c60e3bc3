import { serializeEnvelope } from '../intake/envelope.ts'
import type { AcceptedEnvelope } from '../intake/accepted-envelope.ts'
import type { LossReason } from './spool.ts'

/** Items of one category that were lost for one reason. */
export interface Loss {
  readonly reason: LossReason
  /** As the SDK's `DataCategory` names it. */
  readonly category: string
  /** Items. */
  readonly quantity: number
}

/**
 * Sender of reports of losses: they are few, and exempt from all bounds, because dropping them would lose the counts.
 */
export const LOSS_SENDER = 'client-report'

const MOST_COUNTED = 1_000_000 // per category and envelope: the number is from outside

/**
 * The losses of a dropped envelope. Client reports are not counted: their items were lost before.
 * @see `recordItemLoss` in `@sentry/core`'s transport.
 */
export function lossesOf(categories: Readonly<Record<string, number>>, reason: LossReason): readonly Loss[] {
  return Object.entries(categories)
    .filter(([category, quantity]) => category !== 'internal' && quantity > 0)
    .map(([category, quantity]) => ({ reason, category, quantity: Math.min(Math.trunc(quantity), MOST_COUNTED) }))
}

/**
 * An envelope that reports losses to the service: one item of type `client_report`.
 * @param now milliseconds since the epoch.
 * @see `ClientReport` in `@sentry/core`; the timestamp is in seconds.
 */
export function clientReportEnvelope(losses: readonly Loss[], now: number): Buffer {
  const report = {
    timestamp: now / 1_000,
    discarded_events: losses.map(({ reason, category, quantity }) => ({ reason, category, quantity })),
  }
  return serializeEnvelope({
    header: { sent_at: new Date(now).toISOString() },
    items: [{ type: 'client_report', header: { type: 'client_report' }, payload: Buffer.from(JSON.stringify(report)) }],
  })
}

/** A report of losses as a spool keeps it: never evicted, and counts as no loss if it expires. */
export function lossReport(losses: readonly Loss[], now: number): AcceptedEnvelope {
  return {
    receivedAt: now,
    client: LOSS_SENDER,
    eventId: undefined,
    headers: {},
    body: clientReportEnvelope(losses, now),
    categories: { internal: 1 },
    keep: 'error',
  }
}
