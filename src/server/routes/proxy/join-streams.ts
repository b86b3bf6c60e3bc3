import type { Duplex } from 'node:stream'
import { createPatience } from './patience.ts'

/**
 * Joins two connections. The end of one side ends the other after all pending data; an error ends both at once, and so
 * does `idleMs` without a byte in either direction.
 */
export function joinStreams(left: Duplex, right: Duplex, idleMs: number): void {
  const cut = (): void => {
    left.destroy()
    right.destroy()
  }
  const patience = createPatience(idleMs, () => true, cut)
  const open = new Set([left, right])
  connect(left, right)
  connect(right, left)

  function connect(from: Duplex, to: Duplex): void {
    from.on('data', patience.renew)
    from.on('error', cut)
    from.once('close', () => {
      to.end(() => to.destroy())
      open.delete(from)
      if (open.size === 0) patience.stop()
    })
    from.pipe(to)
  }
}
