/** What becomes of reports in this process: counted where it happens, read by whoever asks for the metrics. */
import type { LossReason, SpoolSize } from './spool/spool.ts'

/**
 * What has become of an envelope. `kept`: it is in the spool or the inbox. `left-out`: nothing of it is ever reported.
 * `delivered`: the service has confirmed it. `given-up`: the service does not want it.
 */
export type EnvelopeOutcome = 'kept' | 'left-out' | 'delivered' | 'given-up'

/** Sums since the start of this process. */
export interface ReportCounts {
  /** Counts an envelope. */
  add(outcome: EnvelopeOutcome): void
  /** Counts what was never delivered. @param losses items by reason and category, as `Spool.reportLosses` gives them. */
  addLosses(losses: Readonly<Record<string, number>>): void
  /** Envelopes. */
  readonly envelopes: Readonly<Record<EnvelopeOutcome, number>>
  /** Items. */
  readonly lost: Readonly<Record<LossReason, number>>
}

/** What waits in one spool. */
export interface SpoolLevel extends SpoolSize {
  /** `disk`: that of this instance, all its processes alike. `shared`: that of all instances. */
  readonly store: 'disk' | 'shared'
}

/** What a server knows of its reports. */
export interface ReportStats {
  readonly counts: Pick<ReportCounts, 'envelopes' | 'lost'>
  /** What waits for the service; without a spool that cannot be read at present. Nothing where there is no service. */
  levels(): Promise<readonly SpoolLevel[]>
  /** Whether this process finds that the service fails; `undefined` where there is none. */
  isFailing(): boolean | undefined
}

/** Nothing has been counted yet. */
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
