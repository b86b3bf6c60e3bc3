/**
 * Code of the application that runs for a request: loaders, guards, handlers, actions, deferred values. It may ignore its
 * signal and run on after its client has left. What the request holds (a place, memory of a body) is given back when both the
 * answer and this work are over:
 *
 * | the answer is over             | and the work | then                                                                 |
 * |--------------------------------|--------------|----------------------------------------------------------------------|
 * | in any way                     | has settled  | is given back at once                                                |
 * | because its time was over      | runs on      | is given back at once: it was held for as long as it may be          |
 * | in any other way               | runs on      | is held until the work settles, for the time of a render at most     |
 * | a making for a visitor who waits | runs on    | is given back at once: the visitor takes a place, and a making that has ended may wait forever |
 *
 * Bound: an entry for each thing held, whose own bound counts it.
 */
import type { RequestAborted } from './request-aborted.ts'

/** The work of one request. Disposing of it ends one piece of work. */
export class RunningWork implements Disposable {
  #pieces = 0
  #onSettled: (() => void)[] | undefined = undefined

  /** Another piece of work begins. */
  begin(): this {
    this.#pieces += 1
    return this
  }

  /** A piece of work has settled. */
  end(): void {
    this.#pieces -= 1
    if (this.#pieces > 0 || this.#onSettled === undefined) return
    const listeners = this.#onSettled
    this.#onSettled = undefined
    for (const listener of listeners) listener()
  }

  /** A promise is a piece of work. Never an unhandled rejection. */
  until(promise: Promise<unknown>): void {
    this.begin()
    const end = this.end.bind(this)
    promise.then(end, end)
  }

  [Symbol.dispose](): void {
    this.end()
  }

  /** Whether a piece of work runs. */
  get isRunning(): boolean {
    return this.#pieces > 0
  }

  /** Calls back once, when no piece of work runs. */
  onSettled(listener: () => void): void {
    ;(this.#onSettled ??= []).push(listener)
  }
}

/** What a request whose answer is over holds for its work. */
export interface LeftWork {
  /** Calls back when the work has settled, or its time is over. */
  hold(work: RunningWork, give: () => void): void
}

interface HeldForWork {
  /** As `now`. */
  readonly until: number
  readonly give: () => void
}

/**
 * Nothing is held at first. One timer for all.
 * @param limitMs longest time for which anything is held.
 * @param now monotonic milliseconds.
 */
export function createLeftWork(limitMs: number, now = () => performance.now()): LeftWork {
  /** Those whose time is over first come first. */
  const held = new Set<HeldForWork>()
  let timer: NodeJS.Timeout | undefined

  function giveLate(): void {
    const at = now()
    timer = undefined
    for (const one of held) {
      if (one.until > at) return startTimer(one.until - at)
      held.delete(one)
      one.give()
    }
  }

  function startTimer(milliseconds: number): void {
    timer = setTimeout(giveLate, milliseconds).unref()
  }

  return {
    hold(work, give) {
      const one: HeldForWork = { until: now() + limitMs, give }
      held.add(one)
      work.onSettled(() => {
        if (held.delete(one)) give()
      })
      if (timer === undefined) startTimer(limitMs)
    },
  }
}

/** What is needed of a request. */
interface WorkedRequest {
  readonly work: RunningWork
  readonly aborted: RequestAborted | undefined
  readonly making: { isAbandoned(): boolean } | undefined
  readonly services: { readonly leftWork: LeftWork }
}

/** Gives back what a request holds whose answer is over, by the table above. */
export function giveAfterWork({ work, aborted, making, services }: WorkedRequest, give: () => void): void {
  if (!work.isRunning || making?.isAbandoned() === false || aborted?.cause === 'timeout') give()
  else services.leftWork.hold(work, give)
}
