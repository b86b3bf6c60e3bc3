import { setImmediate as nextTurn } from 'node:timers/promises'

/** Bytes that are copied in one turn of the event loop: some 2 ms at most, where the system clears each new page. */
const TURN_BYTES = 262_144

/**
 * `Buffer.concat`, in several turns of the event loop if there is much to copy.
 * @param turn ends the turn.
 */
export async function joinInTurns(parts: readonly Buffer[], turn: () => Promise<unknown> = nextTurn): Promise<Buffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= TURN_BYTES) return Buffer.concat(parts, length)
  const joined = Buffer.allocUnsafeSlow(length)
  let filled = 0
  let left = TURN_BYTES
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      const copied = part.copy(joined, filled, at, at + left)
      at += copied
      filled += copied
      left -= copied
      if (left > 0) continue
      await turn()
      left = TURN_BYTES
    }
  }
  return joined
}
