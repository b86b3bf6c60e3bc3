import type { Socket } from 'node:net'

// By name: the queue of an application and the server of its host may come from two copies of this module.
const OVERRUN = Symbol.for('millrace.overrun')

/** Resets a connection that has sent more requests at once than its client may have waiting. */
export function resetOverrun(socket: Socket): void {
  socket.emit(OVERRUN)
  socket.resetAndDestroy()
}

/** Calls back before `resetOverrun` resets this connection. */
export function beforeOverrun(socket: Socket, listener: () => void): void {
  socket.once(OVERRUN, listener)
}
