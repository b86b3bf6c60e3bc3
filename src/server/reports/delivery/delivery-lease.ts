import type { Database } from '../../stores/open-database.ts'
import type { Awaitable } from '../intake/accepted-envelope.ts'
/** How long a lease lasts unless it is asked for again. Milliseconds. */
export const LEASE_LIFETIME_MS = 5_000 // how long envelopes wait after a delivering process has died

/** The right to deliver, which one of several processes has. It must be renewed continually. */
export interface DeliveryLease {
  /**
   * Takes or renews the lease.
   * @param now milliseconds since the epoch.
   * @returns whether this process has it.
   */
  hold(now: number): Awaitable<boolean>
  /** Returns it, so that another process need not wait until it expires. */
  release(): Awaitable<void>
}

/** A synchronous `DeliveryLease`. */
interface LocalDeliveryLease extends DeliveryLease {
  hold(now: number): boolean
  release(): void
}

/** Options of a lease. */
export interface DeliveryLeaseOptions {
  /** As in `SpoolOptions`. */
  readonly destination: string
  /** Unique name of this process; see `nameOwner`. */
  readonly owner: string
  /** Whether the named process is certainly gone, so that nobody need wait for its lease to expire. */
  readonly isGone?: (owner: string) => boolean
  /** Milliseconds until an unrenewed lease expires. */
  readonly lifetimeMs?: number
}

// A clock that was set back must not block anybody: no lease ends later than its lifetime allows.
const TAKE = `
INSERT INTO spool_leases (destination, owner, expires_at) VALUES (:destination, :owner, :now + :lifetime)
ON CONFLICT (destination) DO UPDATE SET owner = :owner, expires_at = :now + :lifetime
WHERE owner IN (:owner, :gone) OR expires_at <= :now OR expires_at > :now + :lifetime`
const OWNER = 'SELECT owner FROM spool_leases WHERE destination = ?'
const RELEASE = 'DELETE FROM spool_leases WHERE destination = ? AND owner = ?'

/** A `DeliveryLease` in a file with `SPOOL_TABLES`. */
export function createDeliveryLease(
  database: Database,
  { destination, owner, isGone = () => false, lifetimeMs = LEASE_LIFETIME_MS }: DeliveryLeaseOptions,
): LocalDeliveryLease {
  let heldUntil = 0

  function take(now: number, gone: string): boolean {
    const { changes } = database.statement(TAKE).run({ destination, owner, gone, now, lifetime: lifetimeMs })
    return changes > 0
  }

  return {
    hold(now) {
      // Renewed after a third of its lifetime, so that it survives a blocked event loop.
      const left = heldUntil - now
      if (left > (lifetimeMs * 2) / 3 && left <= lifetimeMs) return true
      const holder = database.statement(OWNER).get(destination)?.['owner']
      const isOurs = take(now, typeof holder === 'string' && holder !== owner && isGone(holder) ? holder : owner)
      heldUntil = isOurs ? now + lifetimeMs : 0
      return isOurs
    },
    release() {
      if (heldUntil === 0) return
      heldUntil = 0
      database.statement(RELEASE).run(destination, owner)
    },
  }
}
