import type { Logger } from 'pino'
import type { Intake, ReportSender } from '../intake/intake.ts'
import type { ReportClient, ReportClientOptions } from './report-client.ts'

/** Reports of one sender stay in order; browsers are named by their addresses. */
const SERVER = 'server'
/** Transactions need no order, so their deliveries need not wait for each other. */
const TRANSACTION_SENDERS: readonly ReportSender[] = Array.from({ length: 8 }, (_, lane) => ({
  client: `server ${lane}`,
  headers: {},
}))

/** Parts of an outlet. */
export interface ReportOutletParts extends Omit<ReportClientOptions, 'hand'> {
  readonly intake: Intake
  readonly log: Logger
  /** Loads the SDK; for tests. */
  readonly loadClient?: () => Promise<(options: ReportClientOptions) => ReportClient>
}

/** Passes this server's own reports to the intake, through the SDK, which the first report loads. */
export class ReportOutlet {
  readonly #parts: ReportOutletParts
  /** Captures that wait for the SDK, and reports that the intake is storing. */
  readonly #pending = new Set<Promise<void>>()
  #client: Promise<ReportClient> | undefined
  #lane = 0

  constructor(parts: ReportOutletParts) {
    this.#parts = parts
  }

  /** Captures something with the SDK. Does not reject. */
  capture(work: (by: ReportClient) => void): Promise<void> {
    const { loadClient = importClient, dsn, release, environment, relayPath } = this.#parts
    const hand: ReportClientOptions['hand'] = (...report) => this.#hand(...report)
    this.#client ??= loadClient().then((create) => create({ dsn, release, environment, relayPath, hand }))
    return this.#track(this.#client.then(work), (err) => {
      this.#parts.log.error({ err }, 'a failure could not be reported')
    })
  }

  /** Resolves when the intake has everything that was captured. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending)
    await (await this.#client?.catch(() => undefined))?.flush()
    await Promise.all(this.#pending)
  }

  dispose(): void {
    void this.#client?.then((client) => client.dispose()).catch(() => undefined)
  }

  #senderOf(category: 'error' | 'transaction', client: string | undefined): ReportSender {
    if (category === 'transaction') this.#lane = (this.#lane + 1) % TRANSACTION_SENDERS.length
    const sender = category === 'transaction' ? TRANSACTION_SENDERS[this.#lane] : undefined
    // One sender per visitor: failures that one provokes must not push those of others out of inbox and spool.
    return sender ?? { client: client === undefined ? SERVER : `${SERVER} for ${client}`, headers: {} }
  }

  #hand(envelope: Buffer, category: 'error' | 'transaction', client: string | undefined): void {
    void this.#track(this.#parts.intake.take(envelope, this.#senderOf(category, client)), (err) => {
      this.#parts.log.warn({ err }, 'a report of this server could not be kept')
    })
  }

  #track(work: Promise<unknown>, failed: (err: { readonly message: string }) => void): Promise<void> {
    const done = work
      .then(() => undefined)
      .catch((error: unknown) => failed({ message: error instanceof Error ? error.message : String(error) }))
      .finally(() => this.#pending.delete(done))
    this.#pending.add(done)
    return done
  }
}

async function importClient(): Promise<(options: ReportClientOptions) => ReportClient> {
  return (await import('./report-client.ts')).createReportClient
}
