/**
 * How much of a bounded resource one client may hold: open streams, connections, bytes of bodies.
 *
 * | held by all                    | held by the client, plus its request      | verdict   |
 * |--------------------------------|-------------------------------------------|-----------|
 * | more than the bound            | any                                       | `full`    |
 * | more than half of the bound    | more than a quarter of the bound          | `client`  |
 * | more than half of the bound    | more than is left, and more than one; of `halves` only | `client` |
 * | more than half of the bound    | less                                      | taken     |
 * | half of the bound at most      | any                                       | taken     |
 *
 * So an office behind one address is served as long as there is room, one client never holds more than half, and two
 * others find a quarter each. With `halves`, each further client gets half of what the former have left: it takes twelve to
 * leave a newcomer nothing of 2,000, not three. This is for what is taken one by one; of bytes, it would refuse what there
 * is room for. Below a bound of 4 there are no quarters, and only the bound counts.
 *
 * Bound: one number for each client that holds something.
 */
import type { Logger } from 'pino'
import { TRUST_NOBODY, type ProxyTrust } from './trusted-proxy.ts'

/** What is held, including the requested amount. */
interface Holding {
  /** By the client. */
  readonly own: number
  /** By all clients. */
  readonly all: number
  /** The bound. */
  readonly most: number
  /** As in `SharesOptions`. */
  readonly halves?: boolean | undefined
}

/** Why a share is refused: everything is taken, or the client holds too much while others need it. */
export type ShareRefusal = 'full' | 'client'

const LEAST_SHARED = 4

/** The table above. */
export function judgeShare({ own, all, most, halves = false }: Holding): ShareRefusal | undefined {
  if (all > most) return 'full'
  if (most < LEAST_SHARED || all <= Math.ceil(most / 2)) return undefined
  const share = Math.ceil(most / 4)
  return own > (halves ? Math.min(share, Math.max(1, most - all)) : share) ? 'client' : undefined
}

/** A bounded resource that clients share. */
export interface Shares {
  /**
   * Takes an amount, at once or not at all.
   * @param client as `clientKey` names it; `undefined` if only the bound applies.
   * @returns the reason if it is refused.
   */
  take(client: string | undefined, amount?: number): ShareRefusal | undefined
  /** Takes an amount that already exists, even above the bound. */
  add(client: string | undefined, amount: number): void
  /** Gives an amount back. */
  give(client: string | undefined, amount?: number): void
  /** Held by one client. */
  of(client: string): number
  /** Whether one client holds more than half of what is held. */
  readonly isOneClients: boolean
  /** Whether clients that hold this amount or more hold over three quarters of what is held. */
  isOfHolders(least: number): boolean
  /** Held by all. */
  readonly taken: number
  /** Number of clients that hold something. */
  readonly clients: number
}

/** The bound, and a listener. */
export interface SharesOptions {
  /** Bound; called for each request. */
  readonly most: () => number
  /** Whether each client leaves as much as it holds, beyond half of the bound. Default: no. */
  readonly halves?: boolean
  /** Called with a client that is refused while it holds half of everything. */
  readonly onGreedy?: ((client: string) => void) | undefined
}

/** Starts empty. */
export function createShares({ most, halves, onGreedy }: SharesOptions): Shares {
  const held = new Map<string, number>()
  let taken = 0

  function change(client: string | undefined, amount: number): void {
    taken += amount
    if (client === undefined) return
    const own = (held.get(client) ?? 0) + amount
    if (own > 0) held.set(client, own)
    else held.delete(client)
  }

  return {
    take(client, amount = 1) {
      const bound = most()
      const own = client === undefined ? 0 : (held.get(client) ?? 0) + amount
      const refusal = judgeShare({ own, all: taken + amount, most: bound, halves })
      if (refusal === undefined) change(client, amount)
      else if (client !== undefined && (own - amount) * 2 >= bound) onGreedy?.(client)
      return refusal
    },
    add: change,
    give: (client, amount = 1) => change(client, -amount),
    of: (client) => held.get(client) ?? 0,
    get isOneClients() {
      for (const own of held.values()) if (own * 2 > taken) return true
      return false
    },
    isOfHolders(least) {
      let sum = 0
      for (const own of held.values()) if (own >= least) sum += own
      return sum * 4 > taken * 3
    },
    get taken() {
      return taken
    },
    get clients() {
      return held.size
    },
  }
}

/**
 * Listener for clients that hold half of everything: logs once that they may be an unnamed proxy.
 * @returns `undefined` if proxies are named.
 */
export function warnOfOneAddress(trustProxy: ProxyTrust, log: Pick<Logger, 'warn'>): SharesOptions['onGreedy'] {
  if (trustProxy !== TRUST_NOBODY) return undefined
  let warned = false
  return (address) => {
    if (warned) return
    warned = true
    log.warn(
      { address },
      'one address has half of all that is in progress or waits, and is refused more: a proxy that TRUST_PROXY does not name, or one client with many requests',
    )
  }
}
