import type { Logger } from 'pino'
import { parseRetryAfter } from '../../../shared/retry-after.ts'
import type { ReportCounts } from '../report-counts.ts'
import type { LossReason, Spool, SpooledEntry } from '../spool/spool.ts'
import { createDeliveryPace } from './delivery-pace.ts'
import { createDeliveryWindow } from './delivery-window.ts'
import type { RateLimitState } from './rate-limit-state.ts'
import type { Upstream, UpstreamAnswer } from './upstream.ts'

const MOST_IN_FLIGHT = 16 // a service 50 ms away takes 320 a second
const MOST_BYTES_IN_FLIGHT = 33_554_432 // bodies are held in memory while they are sent
const UNNAMED_LIMIT_MS = 60_000 // after a 429 that limits no category of the envelope; the SDK's default

/** Options of the sender. */
export interface SenderOptions {
  readonly spool: Spool
  readonly upstream: Pick<Upstream, 'send'>
  /** Shared with the relay, which passes them on to browsers. */
  readonly limits: Pick<RateLimitState, 'update' | 'limitedUntil'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly counts?: Pick<ReportCounts, 'add' | 'addLosses'> | undefined
  /** 0 to below 1; spreads attempts. */
  readonly random: () => number
  /** Called after an envelope has been settled: there may be room for the next. */
  readonly onSettled: () => void
}

/** Sends envelopes of different clients at once, and settles each in the spool by the service's answer. */
export class EnvelopeSender {
  readonly #options: SenderOptions
  readonly #pace: ReturnType<typeof createDeliveryPace>
  readonly #window: ReturnType<typeof createDeliveryWindow>
  readonly #breakOff = new AbortController()
  /** Clients whose envelope is being sent. */
  readonly #inFlight = new Set<string>()
  #bytesInFlight = 0
  /** Finished, but not yet removed from the spool. */
  readonly #unsettled = new Map<SpooledEntry, LossReason | undefined>()
  #hasDelivered = false
  #stopped = false

  constructor(options: SenderOptions) {
    this.#options = options
    this.#pace = createDeliveryPace(options.random, MOST_IN_FLIGHT)
    this.#window = createDeliveryWindow(options.spool)
  }

  /** Whether the service has failed and not answered since. */
  get failing(): boolean {
    return this.#pace.failing
  }

  /** Whether nothing is being sent. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0
  }

  /** Milliseconds until the service may be tried again; 0 for at once. */
  pauseLeft(now: number): number {
    return this.#pace.pauseLeft(now)
  }

  /** An envelope waits only if all of its categories are limited. */
  isLimited(kind: string, now: number): boolean {
    return kind.split(',').every((category) => this.#options.limits.limitedUntil(category, now) > 0)
  }

  /** Whether the service has accepted something since `forgetDelivered`. */
  get hasDelivered(): boolean {
    return this.#hasDelivered
  }

  forgetDelivered(): void {
    this.#hasDelivered = false
  }

  /** What is known of the spool may be out of date: another process delivers, or the store has failed. */
  forgetSpool(): void {
    this.#window.rewind()
  }

  /** Sends nothing more, and settles nothing. */
  stop(): void {
    this.#stopped = true
  }

  /** Aborts the current attempts; their envelopes stay in the spool. */
  abort(): void {
    this.stop()
    this.#breakOff.abort()
  }

  /** Retries failed removals from the spool. Nothing is sent until this has succeeded. */
  async settleAgain(): Promise<void> {
    for (const [entry, lost] of this.#unsettled) {
      await this.#options.spool.settle(entry, lost)
      this.#unsettled.delete(entry)
    }
  }

  /** @returns whether an envelope was taken from the window; `false` if none may be sent now. */
  async sendNext(now: number): Promise<boolean> {
    const entry = await this.#next(now)
    if (entry === undefined) return false
    await this.#send(entry, now)
    return true
  }

  async #next(now: number): Promise<SpooledEntry | undefined> {
    const pace = this.#pace
    if (this.#stopped || pace.pauseLeft(now) > 0) return undefined
    if (this.#inFlight.size >= pace.mostInFlight() || this.#bytesInFlight >= MOST_BYTES_IN_FLIGHT) return undefined
    const mayLeave = (kind: string): boolean => !this.isLimited(kind, now)
    const isBusy = (client: string): boolean => this.#inFlight.has(client)
    // Not the oldest: whoever has sent the most envelopes on which the service fails would be tried before all others.
    const probe = pace.failing ? this.#options.random : undefined
    const entry = await this.#window.take(mayLeave, (client) => isBusy(client) || pace.isHeld(client, now), probe)
    // No other client is left for a probe.
    return entry ?? (pace.mayRepeat(now) ? this.#window.take(mayLeave, isBusy) : undefined)
  }

  async #send(entry: SpooledEntry, now: number): Promise<void> {
    const { spool, onSettled } = this.#options
    this.#inFlight.add(entry.client)
    this.#bytesInFlight += entry.bytes
    const leave = (): void => {
      this.#inFlight.delete(entry.client)
      this.#bytesInFlight -= entry.bytes
    }
    try {
      const stored = await spool.read(entry.id)
      // Evicted and counted; or only its entry is left, which can never be sent.
      if (stored === undefined) await spool.settle(entry, 'queue_overflow')
      if (stored === undefined || this.#stopped) return leave()
      void this.#answerOf(stored.body, stored.headers).then(async (answer) => {
        // Nothing of this client is sent until it is settled, or it might be taken again.
        if (!this.#stopped) await this.#take(answer, entry, now)
        leave()
        onSettled()
      })
    } catch (thrown) {
      this.#window.giveBack(entry)
      leave()
      throw thrown
    }
  }

  async #answerOf(body: Buffer, headers: Readonly<Record<string, string>>): Promise<UpstreamAnswer> {
    const { upstream, log } = this.#options
    try {
      return await upstream.send(body, headers, this.#breakOff.signal)
    } catch (thrown) {
      log.error({ err: describeFailure(thrown) }, 'a report could not be sent')
      return { kind: 'unreachable' }
    }
  }

  async #take(answer: UpstreamAnswer, entry: SpooledEntry, startedAt: number): Promise<void> {
    const { limits, now: clock } = this.#options
    const now = clock()
    const judged = judgeAnswer(answer)
    limits.update(answer, now)
    if (judged.result === 'delivered' || judged.result === 'refused') {
      await this.#answered(entry, judged.result === 'refused' ? judged : undefined)
    } else {
      const isLimit = judged.result === 'limited'
      const isFailure = !isLimit || !this.isLimited(entry.kind, now)
      const givenUp = isFailure && (await this.#failed(answer, entry, { now, startedAt, isLimit }))
      if (!givenUp) this.#window.giveBack(entry)
    }
  }

  async #answered(entry: SpooledEntry, refused: { readonly status: number | undefined } | undefined): Promise<void> {
    const { log, counts } = this.#options
    this.#hasDelivered = true
    if (this.#pace.succeeded(entry.client)) {
      log.info({ waiting: await this.#waiting() }, 'the error service answers again')
    }
    if (refused !== undefined) return this.#giveUp(entry, refused.status)
    counts?.add('delivered')
    await this.#settle(entry)
  }

  /** @returns whether the envelope is given up. */
  async #failed(
    { retryAfter, status }: UpstreamAnswer,
    entry: SpooledEntry,
    { now, startedAt, isLimit }: { readonly now: number; readonly startedAt: number; readonly isLimit: boolean },
  ): Promise<boolean> {
    const asked = parseRetryAfter(retryAfter, now) ?? 0
    const retryAfterMs = isLimit ? asked || UNNAMED_LIMIT_MS : asked
    const known = this.#pace.failing
    const hopeless = this.#pace.failed({ id: entry.id, client: entry.client, startedAt, retryAfterMs, isLimit }, now)
    if (!known && this.#pace.failing) {
      this.#options.log.warn({ status, waiting: await this.#waiting() }, 'the error service fails; reports wait')
    }
    if (hopeless) await this.#giveUp(entry, status)
    return hopeless
  }

  async #giveUp(entry: SpooledEntry, status: number | undefined): Promise<void> {
    const { eventId, categories, bytes } = entry
    this.#options.counts?.add('given-up')
    this.#options.log.warn(
      { eventId, categories, bytes, status },
      'a report was refused by the error service and is given up',
    )
    // The service itself counts what it has refused; for 413 the SDK does.
    await this.#settle(entry, status === 413 || status === undefined || status >= 500 ? 'send_error' : undefined)
  }

  async #settle(entry: SpooledEntry, lost?: LossReason): Promise<void> {
    try {
      await this.#options.spool.settle(entry, lost)
    } catch {
      // Most likely a full disk. It must not be sent again: `settleAgain` runs before the next envelope.
      this.#unsettled.set(entry, lost)
    }
  }

  async #waiting(): Promise<number | undefined> {
    try {
      return (await this.#options.spool.size()).envelopes
    } catch {
      return undefined
    }
  }
}

/** Description of a failure for the log. */
export function describeFailure(thrown: unknown): object {
  return thrown instanceof Error ? { type: thrown.name, message: thrown.message } : { message: String(thrown) }
}

/** Meaning of the service's answer for the envelope. */
type DeliveryResult =
  | { readonly result: 'delivered' }
  /** The service will never accept it. */
  | { readonly result: 'refused'; readonly status: number }
  /** By its rate limits. */
  | { readonly result: 'limited' }
  /** Temporarily, for reasons unrelated to the envelope. */
  | { readonly result: 'failed'; readonly status: number | undefined }

/** Client errors that do not concern the envelope: a DSN that is not known yet, a proxy in between, bad timing. */
const PASSING_STATUSES = new Set([401, 404, 407, 408, 421, 425])

/** Interprets an answer. */
function judgeAnswer({ kind, status }: UpstreamAnswer): DeliveryResult {
  if (kind === 'unreachable' || status === undefined) return { result: 'failed', status: undefined }
  if (status >= 200 && status < 300) return { result: 'delivered' }
  if (status === 429) return { result: 'limited' }
  if (status >= 400 && status < 500 && !PASSING_STATUSES.has(status)) return { result: 'refused', status }
  return { result: 'failed', status }
}
