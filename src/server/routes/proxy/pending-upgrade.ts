import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** A connection that Node has released, because its request wants another protocol. */
export interface PendingUpgrade {
  readonly socket: Duplex
  /** Bytes that the visitor has sent after the request. */
  readonly head: Buffer
}

const UPGRADE = Symbol('millrace.pending-upgrade')

/** Attaches it to its request, which is handled like all others up to the rules. */
export function attachUpgrade(req: IncomingMessage, upgrade: PendingUpgrade): void {
  ;(req as { [UPGRADE]?: PendingUpgrade })[UPGRADE] = upgrade
}

/** `undefined` for an ordinary request. */
export function upgradeOf(req: IncomingMessage): PendingUpgrade | undefined {
  return (req as { [UPGRADE]?: PendingUpgrade })[UPGRADE]
}
