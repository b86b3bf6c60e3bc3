import type { AcceptedEnvelope, Awaitable } from '../intake/accepted-envelope.ts'

/** Facts about an envelope that the drainer knows before it reads the body. */
export interface SpooledEntry {
  /** Ascending in the order of acceptance. */
  readonly id: number
  /** Categories by which the service may limit it; see `kindOf`. */
  readonly kind: string
  readonly client: string
  readonly eventId: string | undefined
  readonly categories: Readonly<Record<string, number>>
  /** Its size for the bound. */
  readonly bytes: number
}

/** The content to send. */
export interface SpooledEnvelope {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Why an envelope was lost, in the terms of client reports. */
export type LossReason = 'queue_overflow' | 'ratelimit_backoff' | 'network_error' | 'send_error'

/** Size of a spool. */
export interface SpoolSize {
  readonly envelopes: number
  readonly bytes: number
}

/**
 * Keeps envelopes. All members except `accept` and `size` are for the drainer. Errors of any member may be temporary.
 */
export interface Spool {
  /**
   * Keeps an envelope; once this is done, it survives the end of the process. Without room, the oldest are evicted,
   * `other` before `error`, and counted.
   * @throws {SpoolFullError} if it cannot be kept.
   */
  accept(envelope: AcceptedEnvelope): Awaitable<void>
  /** Sum over all destinations. */
  size(): Awaitable<SpoolSize>
  /** The highest id that an envelope ever had here, also one that has left; 0 if there was none. */
  lastId(): Awaitable<number>
  /** The kinds of the waiting envelopes for this destination. */
  kinds(): Awaitable<readonly string[]>
  /** Oldest first, of one kind, with ids above `after`. */
  list(kind: string, after: number, most: number): Awaitable<readonly SpooledEntry[]>
  /** `undefined` if it has been evicted. */
  read(id: number): Awaitable<SpooledEnvelope | undefined>
  /**
   * Removes an envelope that needs no further attempt.
   * @param lost why it was never delivered, if that is to be reported.
   */
  settle(entry: SpooledEntry, lost?: LossReason): Awaitable<void>
  /**
   * Removes and counts envelopes that are too old, a bounded number per call.
   * @param reasonOf why it has waited so long, by its kind.
   * @returns their number.
   */
  expire(now: number, reasonOf: (kind: string) => LossReason): Awaitable<number>
  /**
   * Puts the losses for this destination into the spool as one client report, and resets the counts.
   * @returns items by reason and category; `undefined` if nothing was lost.
   */
  reportLosses(now: number): Awaitable<Readonly<Record<string, number>> | undefined>
}

/** A synchronous `Spool`. */
export type LocalSpool = {
  readonly [Member in keyof Spool]: (...given: Parameters<Spool[Member]>) => Awaited<ReturnType<Spool[Member]>>
}
const ENTRY_BYTES = 512

/** Of several categories, the first in this order represents an envelope. */
const RANKS = ['error', 'feedback', 'transaction', 'span', 'replay', 'session', 'profile', 'attachment'] as const
const MOST_NAMED = 2 // keeps the number of kinds small, whatever clients send

/**
 * The kind of an envelope: the categories that must all be limited for it to wait, sorted, joined by commas. Client
 * reports (`internal`) are never limited, but alone they are not worth sending an envelope whose other items would be
 * dropped.
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

/** An envelope's size for the bound: body, headers, and the overhead of keeping it. */
export function spooledSize({ body, headers }: AcceptedEnvelope): number {
  const names = Object.entries(headers).reduce((total, [name, value]) => total + name.length + value.length, 0)
  return body.length + names + ENTRY_BYTES
}
