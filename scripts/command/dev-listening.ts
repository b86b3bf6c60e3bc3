import { once } from 'node:events'
import { createServer } from 'node:net'
import { BuildFault } from '../build/build-fault.ts'
import type { Certificate } from '../dev/serve/certificate.ts'
import type { DevServer } from '../dev/dev-server.ts'
import type { InspectorAddress } from '../dev/process/inspector-port.ts'

/** What a development server listens with. */
interface Listening {
  /** `--host`. */
  readonly host: string | undefined
  readonly certificate: Certificate | undefined
  readonly inspector: InspectorAddress | undefined
}

/** Lines for the terminal: who reaches the server, and what is to be done for it. */
export function listeningTexts(
  { networkUrls }: Pick<DevServer, 'networkUrls'>,
  { host, certificate, inspector }: Listening,
): string[] {
  const texts: string[] = []
  if (host !== undefined && networkUrls.length === 0) {
    texts.push('No other machine reaches it: this one has no network address for --host.')
  } else if (host !== undefined) {
    const needsHttps = certificate === undefined ? ' Session cookies need https there: add --https.' : ''
    texts.push(`Other machines reach it, with the sources of its pages, at ${networkUrls.join(' and ')}.${needsHttps}`)
  }
  if (certificate?.selfSigned !== undefined) {
    texts.push(`Browsers warn about its certificate, ${certificate.selfSigned}: one made by mkcert they trust.`)
  }
  if (inspector !== undefined) {
    const place = `${inspector.host}:${inspector.port}`
    texts.push(`A debugger reaches the server at ${place}: chrome://inspect in Chrome, or attach your editor.`)
  }
  return texts
}

/** A port that is taken, or an address that this machine does not have. */
export class ListenFault extends BuildFault {}

/** A failure to listen that the user can fix; `undefined` for any other error. */
export function listenFault(error: unknown, host = 'localhost'): ListenFault | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined
  if (error.code === 'EADDRINUSE')
    return new ListenFault(`${error.message}. Stop the program that uses this port, or choose another: PORT=<n>.`)
  const isWrong = error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN'
  return isWrong ? new ListenFault(`--host ${host} is not an address of this machine (${error.message}).`) : undefined
}

/**
 * The server's process would only print that its port is taken, at each save.
 * @throws {ListenFault} if a debugger's port is taken.
 */
export async function checkInspectorPort({ host, port }: InspectorAddress): Promise<void> {
  const probe = createServer().listen(port, host)
  await once(probe, 'listening').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ListenFault(
      `The debugger cannot use ${host}:${port} (${reason}): choose another port with --inspect <port>.`,
    )
  })
  await new Promise((resolve) => probe.close(resolve))
}
