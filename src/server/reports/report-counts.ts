/** Counts what happens to reports in this process, for the metrics. */
import type { LossReason, SpoolSize } from './spool/spool.ts'

/**
 * What happened to an envelope. `kept`: it is in the spool or the inbox. `left-out`: nothing in it is reportable.
 * `delivered`: the service has confirmed it. `given-up`: the service refuses it.
 */
type EnvelopeOutcome = 'kept' | 'left-out' | 'delivered' | 'given-up'

/** Sums since the start of this process. */
export interface ReportCounts {
  /** Counts an envelope. */
  add(outcome: EnvelopeOutcome): void
  /**
   * Counts items that were never delivered. @param losses items by reason and category, as `Spool.reportLosses` returns
   * them.
   */
  addLosses(losses: Readonly<Record<string, number>>): void
  /** Envelopes. */
  readonly envelopes: Readonly<Record<EnvelopeOutcome, number>>
  /** Items. */
  readonly lost: Readonly<Record<LossReason, number>>
}

/** Content of one spool. */
export interface SpoolLevel extends SpoolSize {
  /** `disk`: the spool of this instance and all its processes. `shared`: the spool of all instances. */
  readonly store: 'disk' | 'shared'
}

/** Statistics of a server's reports. */
export interface ReportStats {
  readonly counts: Pick<ReportCounts, 'envelopes' | 'lost'>
  /** What waits for the service; leaves out unreadable spools. Empty without a service. */
  levels(): Promise<readonly SpoolLevel[]>
  /** Whether the service fails for this process; `undefined` without a service. */
  isFailing(): boolean | undefined
}

/** Starts at zero. */
export function createReportCounts(): ReportCounts {
  const envelopes = { kept: 0, 'left-out': 0, delivered: 0, 'given-up': 0 }
  const lost = { queue_overflow: 0, ratelimit_backoff: 0, network_error: 0, send_error: 0 }
  return {
    envelopes,
    lost,
    add: (outcome) => void (envelopes[outcome] += 1),
    addLosses(losses) {
      for (const [name, quantity] of Object.entries(losses)) {
        const [reason = ''] = name.split(' ')
        if (Object.hasOwn(lost, reason)) lost[reason as LossReason] += quantity
      }
    },
  }
}
