import type { RateLimit, RateLimitResult } from '../../stores/rate-cells.ts'
/** A credit pays for an envelope, or for each further 256 KiB of work that it causes; see `workOf`. */
export const CREDIT_BYTES = 262_144

/** Usual compression ratio, at most: JSON seldom exceeds 20. */
const USUAL_RATIO = 32
const USUAL_BYTES = 65_536

/**
 * Extra work of a body beyond that ratio, whatever its size: a hundred bytes must not be the cheapest way to fill a
 * store.
 */
const UNUSUAL_BYTES = 8 * CREDIT_BYTES

/**
 * Of such a body that is not refused while it is read: to read and to keep 256 KiB of it takes up to 4 ms, and no upload
 * slows its sender down.
 */
const UNUSUAL_FACTOR = 4

/**
 * Of a whole body above this: reports of SDKs have less. To keep 19 MB takes a processor up to a third of a second, in
 * short turns; one client may send that about twice in five seconds.
 */
const LARGE_BYTES = 4_194_304
const LARGE_FACTOR = 4

/** Work for parsing a JSON value: 1,024 take up to half a millisecond. */
const VALUE_BYTES = 256

/** Work that an envelope causes. */
export interface EnvelopeWork {
  /** Bytes, inflated. */
  readonly bytes: number
  /** Compressed bytes received for them. */
  readonly received: number
  /** Whether all of it was read, and none of it refused. */
  readonly isWhole: boolean
  /** JSON values, beyond those of small envelopes. */
  readonly values: number
}

/**
 * The charge for an envelope, in bytes: its inflated size, plus surcharges for an unusual ratio, for more than 4 MiB,
 * and for values.
 */
export function workOf({ bytes, received, isWhole, values }: EnvelopeWork): number {
  const isUnusual = bytes > received * USUAL_RATIO + USUAL_BYTES
  const inflated = isUnusual ? bytes * (isWhole ? UNUSUAL_FACTOR : 1) + UNUSUAL_BYTES : bytes
  const large = isWhole ? Math.max(0, bytes - LARGE_BYTES) * (LARGE_FACTOR - 1) : 0
  return inflated + large + values * VALUE_BYTES
}

/** Credits of one point. With several processes, a client may have this many in each of them. */
export const CREDITS_A_POINT = 16

/**
 * 1,024 credits at once and 102 a second: an office of 500 behind one address, all with session replays, sends 100
 * envelopes a second. The bytes keep one client from pushing the reports of all others out of the store.
 */
export const CLIENT_LIMIT: RateLimit = { points: 64, seconds: 10 }

const MOST_CLIENTS = 10_000

/** Counts the work that clients cause. */
export interface ClientAllowance {
  /**
   * Uses a credit of a client.
   * @param take takes a point of this client in the store; called when no credit is left, once for all waiting callers.
   * @throws errors of `take`.
   */
  use(client: string, take: () => Promise<RateLimitResult>): Promise<RateLimitResult>
}

const ALLOWED: RateLimitResult = { allowed: true, retryAfterSeconds: 0 }

/** Starts without credits. */
export function createClientAllowance(mostClients = MOST_CLIENTS): ClientAllowance {
  const credits = new Map<string, number>()
  /** Pending requests for points. */
  const asked = new Map<string, Promise<RateLimitResult>>()

  async function refill(client: string, take: () => Promise<RateLimitResult>): Promise<RateLimitResult> {
    const result = await take()
    credits.delete(client)
    if (!result.allowed) return result
    if (credits.size >= mostClients) credits.delete(credits.keys().next().value ?? '')
    credits.set(client, CREDITS_A_POINT)
    return result
  }

  async function spend(client: string, take: () => Promise<RateLimitResult>): Promise<RateLimitResult> {
    const left = credits.get(client) ?? 0
    if (left > 0) {
      credits.set(client, left - 1)
      return ALLOWED
    }
    const point = asked.get(client) ?? refill(client, take).finally(() => asked.delete(client))
    asked.set(client, point)
    const result = await point
    // Other waiting callers may have used it up.
    return result.allowed ? spend(client, take) : result
  }

  return { use: spend }
}
