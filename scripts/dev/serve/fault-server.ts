import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { DEV_EVENTS_PATH, DEV_SETTLED_PATH, type DevMessage } from '../../../src/client/dev/dev-messages.ts'
import type { Certificate } from './certificate.ts'
import { isAllowedHost, networkAddresses, type AllowedHosts } from '../process/local-hosts.ts'
import { isFromOther } from './own-page.ts'
import { sendUnavailable, waitingPage } from './waiting-documents.ts'

/** Answers browsers while no development server can be started. */
interface FaultServer {
  /** Replaces the text that pages show. */
  say(text: string): void
  close(): void
}

/** Where it listens. */
interface FaultServerOptions {
  readonly port: number
  /** As that of the development server. */
  readonly host: string | undefined
  readonly allowHosts: readonly string[]
  readonly certificate: Certificate | undefined
}

/**
 * Shows a fault in place of the application: over the pages that are open, which stay as they are, and in a document that
 * loads itself again once a development server answers.
 * @throws the error of `listen`.
 */
export async function serveFault(
  fault: string,
  { port, host = 'localhost', allowHosts, certificate }: FaultServerOptions,
): Promise<FaultServer> {
  const state = { text: fault }
  const pages = new Set<ServerResponse>()
  const hosts: AllowedHosts = {
    names: new Set(allowHosts),
    addresses: host === 'localhost' ? () => [] : networkAddresses,
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (!isAllowedHost(request.headers.host, hosts) || isFromOther(request.headers)) {
      return void response.writeHead(403).end()
    }
    const path = URL.parse(request.url ?? '/', 'http://localhost')?.pathname ?? ''
    if (path === DEV_SETTLED_PATH) return void sendUnavailable(response, state.text, 'text/plain')
    // The base path is one of the settings.
    if (!path.endsWith(DEV_EVENTS_PATH)) {
      const title = 'The development server cannot start'
      return void sendUnavailable(response, waitingPage({ title, text: state.text, settled: DEV_SETTLED_PATH }))
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    pages.add(response)
    response.once('close', () => pages.delete(response))
    tell(response)
  }

  function tell(response: ServerResponse): void {
    const message: DevMessage = {
      type: 'failure',
      failure: { kind: 'build', message: state.text, frames: [] },
      isFirst: true,
    }
    response.write(`data: ${JSON.stringify(message)}\n\n`)
  }

  const server = certificate === undefined ? createServer(answer) : createSecureServer(certificate, answer)
  server.listen(port, host)
  await once(server, 'listening')
  return {
    say(text) {
      state.text = text
      for (const page of pages) tell(page)
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
