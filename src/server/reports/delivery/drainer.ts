/**
 * Brings the spool's envelopes to the service. One process of those that share the spool has the lease and delivers; in
 * it, up to 16 envelopes of different clients are sent at once. An envelope leaves the spool when the service has
 * confirmed it, so one that was being sent when the process died is sent again, under the same event id.
 */
import type { DeliveryLease } from './delivery-lease.ts'
import { describeFailure, EnvelopeSender, type SenderOptions } from './envelope-sender.ts'

const LOOK_AGAIN_MS = 1_000 // what other processes have accepted, limits that are over, the lease
const EXPIRY_EVERY_MS = 60_000
const LOSS_REPORT_EVERY_MS = 30_000

/** Time, as far as delivery needs it. */
export interface DeliveryClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs something once, later. Must not keep the process alive. @returns what cancels it. */
  after(milliseconds: number, run: () => void): () => void
}

/** What a drainer works with. */
export interface DrainerOptions extends Omit<SenderOptions, 'now' | 'onSettled'> {
  readonly lease: DeliveryLease
  readonly clock: DeliveryClock
  /** Whether other processes can go on when this one stops: then it does not try to deliver all that waits. */
  readonly shared?: boolean
  /** Whether a failure of the spool is logged elsewhere. */
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

/** Starts delivering. The spool is touched for the first time after this has returned. */
export function startDrainer(options: DrainerOptions): Drainer {
  return new DeliveryLoop(options)
}

/** Sends what it can in turns: when it is woken, and once a second. */
class DeliveryLoop implements Drainer {
  readonly #options: DrainerOptions
  readonly #sender: EnvelopeSender
  #ended = false
  #awake = false
  /** Only one turn at a time; `wake` asks for one more. */
  #turning = false
  #storeFails = false
  #nextExpiry = 0
  #nextLossReport = 0
  #cancelAlarm: () => void
  /** Set once it is to stop; told whether nothing is left. */
  #onIdle: ((empty: boolean) => void) | undefined = undefined

  constructor(options: DrainerOptions) {
    this.#options = options
    this.#sender = new EnvelopeSender({ ...options, now: options.clock.now, onSettled: () => this.wake() })
    this.#cancelAlarm = options.clock.after(0, () => this.#run())
  }

  isFailing(): boolean {
    return this.#sender.failing
  }

  /** Together with what else this turn of the event loop brings. */
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
        // Do not wait for a store that may be the reason for the haste.
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
      const left = leading && (await this.#work(now))
      if (this.#storeFails) log.info('the report spool works again')
      this.#storeFails = false
      if (this.#isOver() && !left) await this.#end(leading && (await spool.kinds()).length === 0)
    } catch (thrown) {
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

  /** @returns whether there is more to be done at once. */
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

  /** Only while the service answers: in an outage there would be one report more each time. */
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
      // It runs out by itself.
    }
    this.#onIdle?.(empty)
  }
}
