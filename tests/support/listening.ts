import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Runs a server on a free port of the loopback for the time of one piece of work. */
export async function withServer<Result>(
  listener: RequestListener,
  work: (port: number) => Promise<Result>,
): Promise<Result> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
