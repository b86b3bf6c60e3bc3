/**
 * Brings the spool's envelopes to the service. One process of those that share the spool has the lease and delivers; in
 * it, up to 16 envelopes of different clients are under way at once. An envelope leaves the spool when the service has
 * confirmed it, so one that was under way when the process died is sent again, under the same event id.
 */
import type { Logger } from 'pino'
import { parseRetryAfter } from '../../../shared/retry-after.ts'
import { judgeAnswer } from './delivery-answer.ts'
import type { DeliveryLease } from './delivery-lease.ts'
import { createDeliveryPace } from './delivery-pace.ts'
import { createDeliveryWindow } from './delivery-window.ts'
import type { RateLimitState } from './rate-limit-state.ts'
import type { ReportCounts } from '../report-counts.ts'
import type { LossReason, Spool, SpooledEntry } from '../spool/spool.ts'
import type { Upstream, UpstreamAnswer } from './upstream.ts'

const MOST_IN_FLIGHT = 16 // a service 50 ms away takes 320 a second
const MOST_BYTES_IN_FLIGHT = 33_554_432 // bodies are held in memory while they are sent
const LOOK_AGAIN_MS = 1_000 // what other processes have accepted, limits that are over, the lease
const EXPIRY_EVERY_MS = 60_000
const LOSS_REPORT_EVERY_MS = 30_000
const UNNAMED_LIMIT_MS = 60_000 // after a 429 that limits no category of the envelope; the SDK's default

/** Time, as far as delivery needs it. */
export interface DeliveryClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs something once, later. Must not keep the process alive. @returns what cancels it. */
  after(milliseconds: number, run: () => void): () => void
}

/** What a drainer works with. */
export interface DrainerOptions {
  readonly spool: Spool
  readonly lease: DeliveryLease
  readonly upstream: Pick<Upstream, 'send'>
  /** Shared with the relay, which passes them on. */
  readonly limits: Pick<RateLimitState, 'update' | 'limitedUntil'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly clock: DeliveryClock
  readonly counts?: Pick<ReportCounts, 'add' | 'addLosses'> | undefined
  /** 0 to below 1; spreads attempts. */
  readonly random: () => number
  /** Whether others can go on when this process stops: then it does not try to deliver all that waits. */
  readonly shared?: boolean
  /** Whether a failure of the spool is told by somebody else. */
  readonly isTold?: (thrown: unknown) => boolean
}

/** Delivers, from its making until `stop`. */
export interface Drainer {
  /** Something was accepted. Cheap; to be called after every `accept`. */
  wake(): void
  /**
   * Delivers what can be delivered now, then stops. What the service does not take stays in the spool.
   * @param signal ends the wait; attempts under way are broken off and made again later.
   * @returns whether nothing of ours is left.
   */
  stop(signal: AbortSignal): Promise<boolean>
  /** Whether the service has failed and not answered since. */
  isFailing(): boolean
}

interface Attempt {
  readonly entry: SpooledEntry
  readonly startedAt: number
}

/** Starts delivering. The spool is touched for the first time after this has returned. */
export function startDrainer(options: DrainerOptions): Drainer {
  const { spool, lease, upstream, limits, log, counts, clock, random, shared = false, isTold = () => false } = options
  const pace = createDeliveryPace(random, MOST_IN_FLIGHT)
  const window = createDeliveryWindow(spool)
  /** Clients. */
  const underWay = new Set<string>()
  const breakOff = new AbortController()
  /** Needs no further attempt, but could not be taken out of the spool. */
  const unsettled = new Map<SpooledEntry, LossReason | undefined>()
  let bytesUnderWay = 0
  let ended = false
  let awake = false
  /** Only one turn at a time; `wake` asks for one more. */
  let turning = false
  let storeFails = false
  let deliveredSinceReport = false
  let nextExpiry = 0
  let nextLossReport = 0
  let cancelAlarm = (): void => undefined
  let onIdle: ((empty: boolean) => void) | undefined

  /** An envelope waits only if all that it holds is limited. */
  const isLimited = (kind: string, now: number): boolean =>
    kind.split(',').every((category) => limits.limitedUntil(category, now) > 0)

  function run(): void {
    if (turning) return
    turning = true
    awake = false
    cancelAlarm()
    void turn().finally(() => {
      turning = false
      if (ended) return
      if (awake) return void setImmediate(run)
      const pause = pace.pauseLeft(clock.now())
      cancelAlarm = clock.after(pause > 0 ? Math.min(pause, LOOK_AGAIN_MS) : LOOK_AGAIN_MS, run)
    })
  }

  async function turn(): Promise<void> {
    if (ended) return
    try {
      const now = clock.now()
      const leading = await lease.hold(now)
      const left = leading && (await work(now))
      if (storeFails) log.info('the report spool works again')
      storeFails = false
      if (isOver() && !left) await end(leading && (await spool.kinds()).length === 0)
    } catch (thrown) {
      if (!isTold(thrown)) {
        if (!storeFails && !ended) log.error({ err: describe(thrown) }, 'the report spool fails; reports wait')
        storeFails = true
      }
      if (isOver()) await end(false)
    }
  }

  function isOver(): boolean {
    return onIdle !== undefined && underWay.size === 0 && !awake
  }

  /** @returns whether there is more to be done at once. */
  async function work(now: number): Promise<boolean> {
    for (const [entry, lost] of unsettled) {
      await spool.settle(entry, lost)
      unsettled.delete(entry)
    }
    const expired = await expire(now)
    await reportLosses(now)
    for (;;) {
      const entry = await next(now)
      if (entry === undefined) return expired
      await send(entry, now)
    }
  }

  async function next(now: number): Promise<SpooledEntry | undefined> {
    if (ended || (shared && onIdle !== undefined)) return undefined
    if (pace.pauseLeft(now) > 0 || underWay.size >= pace.mostInFlight() || bytesUnderWay >= MOST_BYTES_IN_FLIGHT) return
    const mayLeave = (kind: string): boolean => !isLimited(kind, now)
    const isBusy = (client: string): boolean => underWay.has(client)
    const entry = await window.take(mayLeave, (client) => isBusy(client) || pace.isHeld(client, now))
    // Nobody else is left to try the service with.
    return entry ?? (pace.failing ? window.take(mayLeave, isBusy) : undefined)
  }

  async function send(entry: SpooledEntry, now: number): Promise<void> {
    const attempt = { entry, startedAt: now }
    underWay.add(entry.client)
    bytesUnderWay += entry.bytes
    const leave = (): void => {
      underWay.delete(entry.client)
      bytesUnderWay -= entry.bytes
    }
    try {
      const stored = await spool.read(entry.id)
      if (stored === undefined) {
        // Evicted and counted; or only its entry is left, which nobody could ever send.
        await spool.settle(entry, 'queue_overflow')
      }
      if (stored === undefined || ended) return leave()
      void answerOf(stored.body, stored.headers).then(async (answer) => {
        // Until it is settled nothing of this client is sent, or it might be taken again.
        if (!ended) await take(answer, attempt)
        leave()
        wake()
      })
    } catch (thrown) {
      leave()
      window.rewind()
      throw thrown
    }
  }

  async function answerOf(body: Buffer, headers: Readonly<Record<string, string>>): Promise<UpstreamAnswer> {
    try {
      return await upstream.send(body, headers, breakOff.signal)
    } catch (thrown) {
      log.error({ err: describe(thrown) }, 'a report could not be sent')
      return { kind: 'unreachable' }
    }
  }

  async function take(answer: UpstreamAnswer, { entry, startedAt }: Attempt): Promise<void> {
    const now = clock.now()
    const judged = judgeAnswer(answer)
    limits.update(answer, now)
    if (judged.verdict === 'delivered' || judged.verdict === 'refused') {
      deliveredSinceReport = true
      if (pace.succeeded(entry.client)) log.info({ waiting: await waiting() }, 'the error service answers again')
      if (judged.verdict === 'delivered') {
        counts?.add('delivered')
        await settle(entry)
      } else await giveUp(entry, judged.status)
    } else if (judged.verdict === 'failed' || !isLimited(entry.kind, now)) {
      const asked = parseRetryAfter(answer.retryAfter, now) ?? 0
      const retryAfterMs = judged.verdict === 'limited' ? asked || UNNAMED_LIMIT_MS : asked
      const known = pace.failing
      const hopeless = pace.failed({ id: entry.id, client: entry.client, startedAt, retryAfterMs }, now)
      if (!known) log.warn({ status: answer.status, waiting: await waiting() }, 'the error service fails; reports wait')
      if (hopeless) await giveUp(entry, answer.status)
      window.rewind()
    } else {
      window.rewind()
    }
  }

  async function giveUp(entry: SpooledEntry, status: number | undefined): Promise<void> {
    const { eventId, categories, bytes } = entry
    counts?.add('given-up')
    log.warn({ eventId, categories, bytes, status }, 'a report was refused by the error service and is given up')
    // What the service has judged, it has counted itself; for 413 the SDK counts.
    await settle(entry, status === 413 || status === undefined || status >= 500 ? 'send_error' : undefined)
  }

  async function settle(entry: SpooledEntry, lost?: LossReason): Promise<void> {
    try {
      await spool.settle(entry, lost)
    } catch {
      // A full disk, most likely. It must not be sent again: `work` tries this first, and nothing is sent before.
      unsettled.set(entry, lost)
    }
  }

  async function expire(now: number): Promise<boolean> {
    if (now < nextExpiry) return false
    const count = await spool.expire(now, (kind) => (isLimited(kind, now) ? 'ratelimit_backoff' : 'network_error'))
    if (count === 0) nextExpiry = now + EXPIRY_EVERY_MS
    return count > 0
  }

  /** Only while the service answers: in an outage there would be one report more each time. */
  async function reportLosses(now: number): Promise<void> {
    if (!deliveredSinceReport || pace.failing || (now < nextLossReport && onIdle === undefined)) return
    deliveredSinceReport = false
    nextLossReport = now + LOSS_REPORT_EVERY_MS
    const losses = await spool.reportLosses(now)
    if (losses === undefined) return
    counts?.addLosses(losses)
    log.warn({ losses }, 'reports were lost')
  }

  async function waiting(): Promise<number | undefined> {
    try {
      return (await spool.size()).envelopes
    } catch {
      return undefined
    }
  }

  async function end(empty: boolean): Promise<void> {
    if (ended) return
    ended = true
    cancelAlarm()
    try {
      await lease.release()
    } catch {
      // It runs out by itself.
    }
    onIdle?.(empty)
  }

  /** Together with whatever else this turn of the event loop brings. */
  function wake(): void {
    if (awake || ended) return
    awake = true
    if (!turning) setImmediate(run)
  }

  cancelAlarm = clock.after(0, run)
  return {
    wake,
    isFailing: () => pace.failing,
    stop(signal) {
      if (ended) return Promise.resolve(false)
      return new Promise((resolve) => {
        const waitsToo = onIdle
        onIdle = (empty) => {
          waitsToo?.(empty)
          resolve(empty)
        }
        const abort = (): void => {
          if (ended) return
          // Nobody waits for a store that may be the reason for the haste.
          void end(false)
          onIdle?.(false)
          breakOff.abort()
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        wake()
      })
    },
  }
}

function describe(thrown: unknown): object {
  return thrown instanceof Error ? { type: thrown.name, message: thrown.message } : { message: String(thrown) }
}
