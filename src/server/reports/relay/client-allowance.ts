import type { RateLimit, RateVerdict } from '../../stores/rate-limits.ts'
/** A credit is an envelope, or each further 256 KiB of work that one makes; see `workOf`. */
export const CREDIT_BYTES = 262_144

/** Bytes that a body may have for each byte that has come, and some besides: JSON seldom gets beyond 20. */
const USUAL_RATIO = 32
const USUAL_BYTES = 65_536

/** Work of a body beyond that, whatever its size: a hundred bytes must not be the cheapest way to fill a store. */
const UNUSUAL_BYTES = 8 * CREDIT_BYTES

/** Work of a JSON value that has to be read: 1,024 take up to half a millisecond. */
const VALUE_BYTES = 256

/** What an envelope makes us do. */
export interface EnvelopeWork {
  /** Bytes, inflated. */
  readonly bytes: number
  /** Bytes that have come for them. */
  readonly received: number
  /** JSON values, beyond those of small envelopes. */
  readonly values: number
}

/** What an envelope is charged, in bytes: its inflated size, an unusual ratio of that, and the values that are read of it. */
export function workOf({ bytes, received, values }: EnvelopeWork): number {
  const isUnusual = bytes > received * USUAL_RATIO + USUAL_BYTES
  return bytes + (isUnusual ? UNUSUAL_BYTES : 0) + values * VALUE_BYTES
}

/** Credits of one point. With several processes, a client may have as many more in each. */
export const CREDITS_A_POINT = 16

/**
 * 1,024 credits at once and 102 a second: an office of 500 behind one address, all with session replays, sends 100
 * envelopes a second. The bytes keep one client from pushing the reports of all others out of the store.
 */
export const CLIENT_LIMIT: RateLimit = { points: 64, seconds: 10 }

const MOST_CLIENTS = 10_000

/** Counts what clients send. */
export interface ClientAllowance {
  /**
   * Uses a credit of a client.
   * @param take takes a point of this client in the store; asked when no credit is left, once for all who
   * wait for it.
   * @throws what `take` throws.
   */
  use(client: string, take: () => Promise<RateVerdict>): Promise<RateVerdict>
}

const ALLOWED: RateVerdict = { allowed: true, retryAfterSeconds: 0 }

/** Nobody has credits yet. */
export function createClientAllowance(mostClients = MOST_CLIENTS): ClientAllowance {
  const credits = new Map<string, number>()
  /** Points that are being asked for. */
  const asked = new Map<string, Promise<RateVerdict>>()

  async function refill(client: string, take: () => Promise<RateVerdict>): Promise<RateVerdict> {
    const verdict = await take()
    credits.delete(client)
    if (!verdict.allowed) return verdict
    if (credits.size >= mostClients) credits.delete(credits.keys().next().value ?? '')
    credits.set(client, CREDITS_A_POINT)
    return verdict
  }

  async function spend(client: string, take: () => Promise<RateVerdict>): Promise<RateVerdict> {
    const left = credits.get(client) ?? 0
    if (left > 0) {
      credits.set(client, left - 1)
      return ALLOWED
    }
    const point = asked.get(client) ?? refill(client, take).finally(() => asked.delete(client))
    asked.set(client, point)
    const verdict = await point
    // Those who have waited as well may have used it up.
    return verdict.allowed ? spend(client, take) : verdict
  }

  return { use: spend }
}
