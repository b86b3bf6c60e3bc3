import type { SpooledEnvelope } from './spool.ts'

const MOST_BYTES = 8_388_608 // bodies: two thousand envelopes of usual size
const STALE_MS = 30_000 // delivered by another process, or long evicted

/**
 * Envelopes that this process has just put into the spool and is likely to send next, so that they need not be read
 * back. At most 8 MiB. If they arrive faster than they leave, new ones are not kept, because the oldest are sent first.
 * Entries that nobody takes within 30 s make room.
 */
interface RecentEnvelopes {
  /** Keeps an envelope, if there is room. @param now milliseconds. */
  keep(id: number, envelope: SpooledEnvelope, now: number): void
  /** Returns an envelope, once. */
  take(id: number): SpooledEnvelope | undefined
}

/** Emptied when taken: former tables of a `Map` keep their entries, and are collected late. */
interface Kept {
  envelope: SpooledEnvelope | undefined
  readonly at: number
}

/** @param mostBytes of bodies. */
export function createRecentEnvelopes(mostBytes = MOST_BYTES): RecentEnvelopes {
  const kept = new Map<number, Kept>()
  let bytes = 0

  function take(id: number): SpooledEnvelope | undefined {
    const found = kept.get(id)
    if (found === undefined) return undefined
    kept.delete(id)
    const { envelope } = found
    found.envelope = undefined
    bytes -= envelope?.body.length ?? 0
    return envelope
  }

  return {
    keep(id, { headers, body }, now) {
      for (const [oldest, { at }] of kept) {
        if (bytes + body.length <= mostBytes || now - at < STALE_MS) break
        take(oldest)
      }
      if (bytes + body.length > mostBytes) return
      kept.set(id, { envelope: { headers, body }, at: now })
      bytes += body.length
    },
    take,
  }
}
