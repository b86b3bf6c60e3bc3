import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'

/** A second way into a server, for this process alone. */
export interface PrivateDoor {
  /** On the loopback interface. */
  readonly port: number
  close(): void
}

/**
 * Opens a loopback port whose connections are this server's. Where workers share the public port, a request to that
 * would meet any of them.
 */
export async function openPrivateDoor(server: Server): Promise<PrivateDoor> {
  const door = createServer((socket) => void server.emit('connection', socket))
  door.listen({ port: 0, host: '127.0.0.1', exclusive: true })
  await once(door, 'listening')
  door.unref()
  return { port: (door.address() as AddressInfo).port, close: () => void door.close() }
}
