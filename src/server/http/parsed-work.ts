import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// By name: an application and the server of its host may have two copies of this module.
const PARSED = Symbol.for('millrace.parsed')

interface FollowedSocket extends Socket {
  [PARSED]?: () => void
}

/** Calls back for what Node's parser makes of one read besides the first request: each costs some ten microseconds. */
export function onParsed(socket: FollowedSocket, listener: () => void): void {
  socket[PARSED] = listener
}

/** A request that was sent before the previous one was answered, or as much other work. */
export function noteParsed(socket: FollowedSocket): void {
  socket[PARSED]?.()
}

/** To be called for each request, whatever becomes of it. */
export function noteRequest(socket: Socket, res: ServerResponse): void {
  // Node gives the socket to an answer when it is the first in line.
  if (res.socket === null) noteParsed(socket)
}
