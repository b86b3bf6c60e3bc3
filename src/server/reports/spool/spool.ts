import type { AcceptedEnvelope, Awaitable } from '../intake/accepted-envelope.ts'

/** What the drainer knows of an envelope before it reads its body. */
export interface SpooledEntry {
  /** Ascending in the order of acceptance. */
  readonly id: number
  /** Categories by which the service may limit it; see `kindOf`. */
  readonly kind: string
  readonly client: string
  readonly eventId: string | undefined
  readonly categories: Readonly<Record<string, number>>
  /** What it counts for against the bound. */
  readonly bytes: number
}

/** What is sent. */
export interface SpooledEnvelope {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Why an envelope was lost, by the names of client reports. */
export type LossReason = 'queue_overflow' | 'ratelimit_backoff' | 'network_error' | 'send_error'

/** What waits. */
export interface SpoolSize {
  readonly envelopes: number
  readonly bytes: number
}

/** Keeps envelopes. Everything but `accept` and `size` is for the drainer. What any member throws may pass. */
export interface Spool {
  /**
   * Keeps an envelope; once this is done, the end of the process does not lose it. Where there is no room, the oldest
   * go, `other` before `error`, and are counted.
   * @throws {SpoolFullError} where it cannot be kept.
   */
  accept(envelope: AcceptedEnvelope): Awaitable<void>
  /** What waits, for all destinations together. */
  size(): Awaitable<SpoolSize>
  /** The kinds of which something waits for this destination. */
  kinds(): Awaitable<readonly string[]>
  /** Oldest first, of one kind, with ids above `after`. */
  list(kind: string, after: number, most: number): Awaitable<readonly SpooledEntry[]>
  /** `undefined` where it has been evicted since. */
  read(id: number): Awaitable<SpooledEnvelope | undefined>
  /**
   * Lets go of an envelope that needs no further attempt.
   * @param lost why it was never delivered, where that is to be reported.
   */
  settle(entry: SpooledEntry, lost?: LossReason): Awaitable<void>
  /**
   * Lets go of what is too old, a bounded number at a time, and counts it.
   * @param reasonOf why it has waited so long, by its kind.
   * @returns how many it were.
   */
  expire(now: number, reasonOf: (kind: string) => LossReason): Awaitable<number>
  /**
   * Puts what was lost for this destination into the spool as one client report, and begins to count anew.
   * @returns items by reason and category; `undefined` where nothing was lost.
   */
  reportLosses(now: number): Awaitable<Readonly<Record<string, number>> | undefined>
}

/** A `Spool` whose calls are over when they return. */
export type LocalSpool = {
  readonly [Member in keyof Spool]: (...given: Parameters<Spool[Member]>) => Awaited<ReturnType<Spool[Member]>>
}
const ENTRY_BYTES = 512

/** Of several categories, those that come first stand for an envelope. */
const RANKS = ['error', 'feedback', 'transaction', 'span', 'replay', 'session', 'profile', 'attachment'] as const
const MOST_NAMED = 2 // so that the number of kinds stays small whatever is sent

/**
 * The kind of an envelope: the categories that have to be limited for it to wait, sorted, with commas. Client reports
 * (`internal`) are never limited, but alone they are not worth sending an envelope whose other items would be dropped.
 */
export function kindOf(categories: Readonly<Record<string, number>>): string {
  const names = Object.keys(categories)
  const limitable = names.filter((name) => name !== 'internal')
  if (limitable.length === 0) return 'internal'
  return limitable
    .toSorted((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1))
    .slice(0, MOST_NAMED)
    .join(',')
}

function rankOf(category: string): number {
  const rank = RANKS.findIndex((name) => name === category)
  return rank < 0 ? RANKS.length : rank
}

/** What an envelope counts for against a bound: its body, its headers, and what keeping it costs beside them. */
export function spooledSize({ body, headers }: AcceptedEnvelope): number {
  const names = Object.entries(headers).reduce((total, [name, value]) => total + name.length + value.length, 0)
  return body.length + names + ENTRY_BYTES
}
