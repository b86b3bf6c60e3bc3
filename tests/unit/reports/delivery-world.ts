import { createDeliveryLease } from '../../../src/server/reports/delivery/delivery-lease.ts'
import { startDrainer, type DeliveryClock, type Drainer } from '../../../src/server/reports/delivery/drainer.ts'
import { parseEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { createRateLimitState } from '../../../src/server/reports/delivery/rate-limit-state.ts'
import { createReportCounts, type ReportCounts } from '../../../src/server/reports/report-counts.ts'
import type { Spool } from '../../../src/server/reports/spool/spool.ts'
import type { UpstreamAnswer } from '../../../src/server/reports/delivery/upstream.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { NOW } from './sample-envelope.ts'

/** A clock that stands still unless a test moves it. */
interface HandClock extends DeliveryClock {
  /** Moves on, and runs what is due on the way. */
  pass(milliseconds: number): Promise<void>
}

/** An envelope that has reached the service and waits for its answer. */
interface Arrival {
  /** Of the envelope's header, or the type of its only item. */
  readonly name: string
  /** When it came, in ms after the beginning. */
  readonly at: number
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  answer(answer: UpstreamAnswer): Promise<void>
}

/** A service whose every answer is given by hand, or by a rule. */
interface HandService {
  /** All that has come, in order. */
  readonly arrivals: readonly Arrival[]
  /** Names of `arrivals`. */
  names(): string[]
  /** Answers everything from now on; `undefined` leaves it to the test. */
  answerBy(rule: (name: string) => UpstreamAnswer | undefined): void
  send(body: Buffer, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<UpstreamAnswer>
}

/** Answers of the service. */
export const TAKEN: UpstreamAnswer = { kind: 'answered', status: 200 }
export const UNREACHABLE: UpstreamAnswer = { kind: 'unreachable' }
export const answered = (status: number, more: Partial<UpstreamAnswer> = {}): UpstreamAnswer => ({
  kind: 'answered',
  status,
  ...more,
})

/** Lets everything happen that needs no further time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Makes a clock at `NOW`. */
function handClock(): HandClock {
  let now = NOW
  let alarms: { at: number; run: () => void }[] = []
  return {
    now: () => now,
    after(milliseconds, run) {
      const alarm = { at: Math.ceil(now + milliseconds), run }
      alarms.push(alarm)
      return () => {
        alarms = alarms.filter((each) => each !== alarm)
      }
    },
    async pass(milliseconds) {
      const end = now + milliseconds
      for (;;) {
        await settled()
        const [next] = alarms.filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)
        if (next === undefined) break
        alarms = alarms.filter((each) => each !== next)
        now = Math.max(now, next.at)
        next.run()
      }
      now = end
    },
  }
}

/** Makes a service. */
function handService(clock: DeliveryClock): HandService {
  const arrivals: Arrival[] = []
  let rule: (name: string) => UpstreamAnswer | undefined = () => undefined
  return {
    arrivals,
    names: () => arrivals.map(({ name }) => name),
    answerBy: (given) => {
      rule = given
    },
    send(body, headers, signal) {
      const { header, items } = parseEnvelope(body)
      const name = String(header['event_id'] ?? items[0]?.type)
      const { promise, resolve } = Promise.withResolvers<UpstreamAnswer>()
      const answer = (given: UpstreamAnswer): Promise<void> => {
        resolve(given)
        return settled()
      }
      arrivals.push({ name, at: clock.now() - NOW, headers, signal, answer })
      const ruled = rule(name)
      if (ruled !== undefined) resolve(ruled)
      signal.addEventListener('abort', () => resolve(UNREACHABLE))
      return promise
    },
  }
}

/** One line of the drainer's log. */
interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** A drainer with its clock and service. */
export interface DeliveryWorld {
  readonly clock: HandClock
  readonly service: HandService
  readonly drainer: Drainer
  readonly lines: readonly LogLine[]
  readonly counts: Pick<ReportCounts, 'envelopes' | 'lost'>
}

/** What a world is made of. */
interface DeliveryWorldOptions {
  readonly spool: Spool
  readonly database: Database
  readonly owner?: string
  /** Of another drainer, to share them. */
  readonly clock?: HandClock
  readonly service?: HandService
  /** Default: every chance is one half. */
  readonly random?: () => number
}

/** Starts a drainer. */
export function deliveryWorld(options: DeliveryWorldOptions): DeliveryWorld {
  const { spool, database, owner = 'me', clock = handClock(), service = handService(clock) } = options
  const lines: LogLine[] = []
  const counts = createReportCounts()
  const write =
    (level: LogLine['level']) =>
    (detail: object | string, message = ''): void =>
      void lines.push(
        typeof detail === 'string'
          ? { level, message: detail, detail: {} }
          : { level, message, detail: detail as Record<string, unknown> },
      )
  const drainer = startDrainer({
    spool,
    lease: createDeliveryLease(database, { destination: 'one', owner }),
    upstream: service,
    limits: createRateLimitState(),
    log: { info: write('info'), warn: write('warn'), error: write('error') } as never,
    counts,
    clock,
    random: options.random ?? (() => 0.5),
  })
  return { clock, service, drainer, lines, counts }
}
