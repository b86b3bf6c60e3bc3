import { once } from 'node:events'
import { Agent, createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { withBasePath } from '../../shared/base-path.ts'
import type { MillraceApp } from '../app.ts'

/** An answer of the application to a stranger. */
export interface SiteAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Of nobody (RFC 5737). An address of this machine may be let in where strangers are not. */
const STRANGER = '192.0.2.1'

/** Asks the application of this process, as a visitor without cookies does. */
export interface SiteClient extends AsyncDisposable {
  /** @param path of the table, percent-encoded. */
  get(path: string): Promise<SiteAnswer>
}

/**
 * Lets the application answer at a port of this machine.
 * @param host under which it is asked.
 * @param connections at one time.
 */
export async function openSiteClient(app: MillraceApp, host: string, connections: number): Promise<SiteClient> {
  const server = createServer(app.messageClasses, app).listen(0, '127.0.0.1')
  server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: STRANGER }))
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return {
    async get(path) {
      const asked = request({ port, host: '127.0.0.1', agent, path: withBasePath(path) || '/', headers: { host } })
      asked.end()
      const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) }
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
