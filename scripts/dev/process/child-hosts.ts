import { Server, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { isAllowedHost, networkAddresses, type AllowedHosts } from './local-hosts.ts'

const VARIABLE = 'MILLRACE_DEV_HOSTS'

/**
 * Environment for the process of the application's server, from which `checkHosts` reads what it allows.
 * @param names as `AllowedHosts.names`.
 * @param isReachable whether the development server listens for other machines too.
 */
export function hostsVariable(names: readonly string[], isReachable: boolean): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify({ module: import.meta.url, names, isReachable }) }
}

/** Code for the start of a server's process, which runs `checkHosts`. It expects a top level that may await. */
export const CHECK_HOSTS = `const { module } = JSON.parse(process.env.${VARIABLE})
const { checkHosts } = await import(module)
checkHosts()
`

/**
 * Makes each HTTP server of this process refuse requests for other hosts, as the gateway does: the port of the application's
 * server is open to every page of a browser on this machine, also to one whose host name was made to lead here.
 */
export function checkHosts(): void {
  const { names, isReachable } = JSON.parse(process.env[VARIABLE] ?? '{}') as {
    readonly names?: readonly string[]
    readonly isReachable?: boolean
  }
  delete process.env[VARIABLE]
  const hosts: AllowedHosts = {
    names: new Set(names),
    addresses: isReachable === true ? networkAddresses : () => [],
  }
  const emit = Reflect.get(Server.prototype, 'emit') as (this: Server, event: string, ...args: unknown[]) => boolean
  Reflect.set(Server.prototype, 'emit', function (this: Server, event: string, ...args: unknown[]): boolean {
    if (!OF_REQUESTS.has(event)) return emit.call(this, event, ...args)
    const [request, answer] = args as [IncomingMessage, ServerResponse | Duplex]
    const { host } = request.headers
    // Browsers always send one.
    if (host === undefined || isAllowedHost(host, hosts)) return emit.call(this, event, ...args)
    if ('writeHead' in answer) answer.writeHead(403, { Connection: 'close' })
    answer.end()
    return true
  })
}

const OF_REQUESTS = new Set(['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect'])
