import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** A connection that Node has given out of its hands, because the request on it asks for another protocol. */
export interface PendingUpgrade {
  readonly socket: Duplex
  /** What the visitor has sent behind the request. */
  readonly head: Buffer
}

const UPGRADE = Symbol('millrace.pending-upgrade')

/** Puts it where the rules find it, on a request that takes the way of all others up to them. */
export function attachUpgrade(req: IncomingMessage, upgrade: PendingUpgrade): void {
  ;(req as { [UPGRADE]?: PendingUpgrade })[UPGRADE] = upgrade
}

/** `undefined` for an ordinary request. */
export function upgradeOf(req: IncomingMessage): PendingUpgrade | undefined {
  return (req as { [UPGRADE]?: PendingUpgrade })[UPGRADE]
}
