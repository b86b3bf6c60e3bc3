/**
 * Delivers the spool's envelopes to the service. Of the processes that share the spool, the one with the lease
 * delivers; it sends up to 16 envelopes of different clients at once. An envelope leaves the spool when the service has
 * confirmed it, so one that was being sent when the process died is sent again, with the same event id.
 */
import type { DeliveryLease } from './delivery-lease.ts'
import { describeFailure, EnvelopeSender, type SenderOptions } from './envelope-sender.ts'

const LOOK_AGAIN_MS = 1_000 // for envelopes of other processes, limits that have ended, the lease
const EXPIRY_EVERY_MS = 60_000
const LOSS_REPORT_EVERY_MS = 30_000

/** Clock and timer. */
export interface DeliveryClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs a function once, later, without keeping the process alive. @returns cancels it. */
  after(milliseconds: number, run: () => void): () => void
}

/** Parts of a drainer. */
export interface DrainerOptions extends Omit<SenderOptions, 'now' | 'onSettled'> {
  readonly lease: DeliveryLease
  readonly clock: DeliveryClock
  /** Whether other processes continue when this one stops: then it does not try to deliver everything. */
  readonly shared?: boolean
  /** Whether a failure of the spool is logged elsewhere. */
  readonly isTold?: (thrown: unknown) => boolean
}

/** Delivers from its creation until `stop`. */
export interface Drainer {
  /** Reports a new envelope. Cheap; call it after every `accept`. */
  wake(): void
  /**
   * Delivers what can be delivered now, then stops. Undelivered envelopes stay in the spool.
   * @param signal ends the wait; pending attempts are aborted and repeated later.
   * @returns whether nothing of ours is left.
   */
  stop(signal: AbortSignal): Promise<boolean>
  /** Whether the service has failed and not answered since. */
  isFailing(): boolean
}

/** Starts delivering. It touches the spool only after this function has returned. */
export function startDrainer(options: DrainerOptions): Drainer {
  return new DeliveryLoop(options)
}

/** Sends in turns: after `wake`, and once a second. */
class DeliveryLoop implements Drainer {
  readonly #options: DrainerOptions
  readonly #sender: EnvelopeSender
  #ended = false
  #awake = false
  /** One turn at a time; `wake` requests one more. */
  #turning = false
  #storeFails = false
  #nextExpiry = 0
  #nextLossReport = 0
  #cancelAlarm: () => void
  /** Set when stopping; called with whether nothing is left. */
  #onIdle: ((empty: boolean) => void) | undefined = undefined

  constructor(options: DrainerOptions) {
    this.#options = options
    this.#sender = new EnvelopeSender({ ...options, now: options.clock.now, onSettled: () => this.wake() })
    this.#cancelAlarm = options.clock.after(0, () => this.#run())
  }

  isFailing(): boolean {
    return this.#sender.failing
  }

  /** Batches the wakes of one turn of the event loop. */
  wake(): void {
    if (this.#awake || this.#ended) return
    this.#awake = true
    if (!this.#turning) setImmediate(() => this.#run())
  }

  stop(signal: AbortSignal): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false)
    return new Promise((resolve) => {
      const waitsToo = this.#onIdle
      this.#onIdle = (empty) => {
        waitsToo?.(empty)
        resolve(empty)
      }
      const abort = (): void => {
        if (this.#ended) return
        // Do not wait for the store: it may be the reason for the abort.
        void this.#end(false)
        this.#onIdle?.(false)
        this.#sender.abort()
      }
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort, { once: true })
      this.wake()
    })
  }

  #run(): void {
    if (this.#turning) return
    this.#turning = true
    this.#awake = false
    this.#cancelAlarm()
    void this.#turn().finally(() => {
      this.#turning = false
      if (this.#ended) return
      if (this.#awake) return void setImmediate(() => this.#run())
      const { clock } = this.#options
      const pause = this.#sender.pauseLeft(clock.now())
      this.#cancelAlarm = clock.after(pause > 0 ? Math.min(pause, LOOK_AGAIN_MS) : LOOK_AGAIN_MS, () => this.#run())
    })
  }

  async #turn(): Promise<void> {
    if (this.#ended) return
    const { clock, lease, log, spool, isTold = () => false } = this.#options
    try {
      const now = clock.now()
      const leading = await lease.hold(now)
      if (!leading) this.#sender.forgetSpool()
      const left = leading && (await this.#work(now))
      if (this.#storeFails) log.info('the report spool works again')
      this.#storeFails = false
      if (this.#isOver() && !left) await this.#end(leading && (await spool.kinds()).length === 0)
    } catch (thrown) {
      // A store that comes back may give ids again that it had given before (`redis-spool-scripts.ts`).
      this.#sender.forgetSpool()
      if (!isTold(thrown)) {
        if (!this.#storeFails && !this.#ended) {
          log.error({ err: describeFailure(thrown) }, 'the report spool fails; reports wait')
        }
        this.#storeFails = true
      }
      if (this.#isOver()) await this.#end(false)
    }
  }

  #isOver(): boolean {
    return this.#onIdle !== undefined && this.#sender.isIdle && !this.#awake
  }

  /** @returns whether there is more to do at once. */
  async #work(now: number): Promise<boolean> {
    await this.#sender.settleAgain()
    const expired = await this.#expire(now)
    await this.#reportLosses(now)
    const leavesRest = (): boolean => this.#options.shared === true && this.#onIdle !== undefined
    while (!leavesRest() && (await this.#sender.sendNext(now))) {
      // Until nothing more may be sent.
    }
    return expired
  }

  async #expire(now: number): Promise<boolean> {
    if (now < this.#nextExpiry) return false
    const reasonOf = (kind: string) => (this.#sender.isLimited(kind, now) ? 'ratelimit_backoff' : 'network_error')
    const count = await this.#options.spool.expire(now, reasonOf)
    if (count === 0) this.#nextExpiry = now + EXPIRY_EVERY_MS
    return count > 0
  }

  /** Only while the service works: during an outage each call would add one more report. */
  async #reportLosses(now: number): Promise<void> {
    const isEarly = now < this.#nextLossReport && this.#onIdle === undefined
    if (!this.#sender.hasDelivered || this.#sender.failing || isEarly) return
    this.#sender.forgetDelivered()
    this.#nextLossReport = now + LOSS_REPORT_EVERY_MS
    const { spool, counts, log } = this.#options
    const losses = await spool.reportLosses(now)
    if (losses === undefined) return
    counts?.addLosses(losses)
    log.warn({ losses }, 'reports were lost')
  }

  async #end(empty: boolean): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    this.#sender.stop()
    this.#cancelAlarm()
    try {
      await this.#options.lease.release()
    } catch {
      // The lease expires by itself.
    }
    this.#onIdle?.(empty)
  }
}
