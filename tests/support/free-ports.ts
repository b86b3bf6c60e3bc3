import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below those that the system gives to outgoing connections by itself. Source: ip(7), `ip_local_port_range`. */
const PORTS = { first: 20_000, last: 32_000 } as const

/**
 * A port of the loopback on which nobody listens now. A server that is replaced takes its port again, and no outgoing
 * connection may have got it meanwhile: one that is asked of the system with 0 would be such a port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.last)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

/** As many of them, each another one. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}
