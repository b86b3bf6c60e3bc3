/**
 * Ends of calls that the shared store has not taken, because it hung, was full, or took no writes. Without them, other instances
 * would take these calls for running until their keys expire. They are tried again every second, as long as keys live.
 */
import { IDEMPOTENCY_LIFETIME_MS, type IdempotencyStore } from './idempotency-store.ts'

const TRY_AGAIN_MS = 1_000
const MOST_ENDS = 1_000
/** UTF-16 units of all results. */
const MOST_LENGTH = 2_097_152

/** How a call has ended: by its result, or so that it may run again. */
export interface CallEnd {
  readonly key: string
  readonly result?: { readonly text: string; readonly now: number; readonly client: string | undefined }
}

/** The ends that one instance owes. */
export class OwedEnds {
  readonly #shared: Pick<IdempotencyStore, 'finish' | 'abandon'>
  readonly #owed = new Map<string, CallEnd & { readonly since: number }>()
  #length = 0
  #paying: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(shared: Pick<IdempotencyStore, 'finish' | 'abandon'>) {
    this.#shared = shared
  }

  has(key: string): boolean {
    return this.#owed.has(key)
  }

  /** Sends an end. @throws what the store throws; the end is owed then. */
  async send(end: CallEnd): Promise<void> {
    this.#forget(end.key)
    try {
      await this.#write(end)
    } catch (thrown) {
      this.#owed.set(end.key, { ...end, since: performance.now() })
      this.#length += lengthOf(end)
      while (this.#owed.size > MOST_ENDS || this.#length > MOST_LENGTH) this.#forgetOne()
      this.#tryLater()
      throw thrown
    }
  }

  /** Sends all that is owed, up to the first that is not taken. Does not reject. */
  pay(): Promise<void> {
    return (this.#paying ??= this.#pay().finally(() => (this.#paying = undefined)))
  }

  async #pay(): Promise<void> {
    for (const [key, end] of this.#owed) {
      const isOver = performance.now() - end.since > IDEMPOTENCY_LIFETIME_MS
      try {
        if (!isOver) await this.#write(end)
      } catch {
        return this.#tryLater()
      }
      // It may have ended in another way meanwhile.
      if (this.#owed.get(key) === end) this.#forget(key)
    }
  }

  #write({ key, result }: CallEnd): Promise<void> {
    if (result === undefined) return this.#shared.abandon(key)
    return this.#shared.finish(key, result.text, result.now, result.client)
  }

  /** The oldest of the client with most. */
  #forgetOne(): void {
    const isLong = this.#length > MOST_LENGTH
    const held = new Map<string, { readonly oldest: string; amount: number }>()
    for (const [key, end] of this.#owed) {
      const client = end.result?.client ?? ''
      const own = held.get(client) ?? { oldest: key, amount: 0 }
      own.amount += isLong ? lengthOf(end) : 1
      held.set(client, own)
    }
    const greediest = [...held.values()].reduce((most, one) => (one.amount > most.amount ? one : most))
    this.#forget(greediest.oldest)
  }

  #forget(key: string): void {
    const end = this.#owed.get(key)
    if (end === undefined) return
    this.#owed.delete(key)
    this.#length -= lengthOf(end)
  }

  #tryLater(): void {
    clearTimeout(this.#timer)
    if (this.#owed.size > 0) this.#timer = setTimeout(() => void this.pay(), TRY_AGAIN_MS).unref()
  }
}

function lengthOf({ result }: CallEnd): number {
  return result?.text.length ?? 0
}
