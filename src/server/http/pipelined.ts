import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// By name: an application and the server of its host may have two copies of this module.
const PIPELINED = Symbol.for('millrace.pipelined')

interface FollowedSocket extends Socket {
  [PIPELINED]?: () => void
}

/** Calls back for each request of a connection that was sent before the previous one was answered. */
export function onPipelined(socket: FollowedSocket, listener: () => void): void {
  socket[PIPELINED] = listener
}

/** To be called for each request, whatever becomes of it. */
export function notePipelined(socket: FollowedSocket, res: ServerResponse): void {
  // Node gives the socket to an answer when it is the first in line.
  if (res.socket === null) socket[PIPELINED]?.()
}
