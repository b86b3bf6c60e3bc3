import type { Socket } from 'node:net'

/**
 * Whether the client of a connection has reset it before its address was asked for. What it has sent can still be read, and would
 * pass what is forbidden to that address. A connection without a local address is of a file, and never has one.
 */
export function hasNoPeer(socket: Pick<Socket, 'remoteAddress' | 'localAddress'>): boolean {
  // Each is a call of the system, the second one rarely needed.
  return socket.remoteAddress === undefined && socket.localAddress !== undefined
}
