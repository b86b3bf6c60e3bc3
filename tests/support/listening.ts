import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { MillraceApp } from '../../src/server/app.ts'

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

/** A server that listens for as long as its owner wants. */
export interface ListeningServer extends AsyncDisposable {
  readonly port: number
}

/** Lets a server listen on a free port of the loopback. Disposing of it ends its connections. */
export async function listeningOn(server: Server): Promise<ListeningServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Lets an application listen until the test is over, WebSockets included.
 * @returns a free port of the loopback.
 */
export async function portOf(app: MillraceApp): Promise<number> {
  const server = createServer({ ...app.messageClasses, shouldUpgradeCallback: app.shouldUpgrade }, app)
  server.on('upgrade', app.upgrade)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
