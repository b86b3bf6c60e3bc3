import { once } from 'node:events'
import { request, type Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { withBasePath } from '../../shared/base-path.ts'
import { traceHeader } from '../../shared/reports/trace-header.ts'
import type { Config } from '../config/config.ts'
import { someHost } from '../http/public-origins.ts'
import type { Readiness } from './readiness.ts'
import type { WarmModules } from './warm-modules.ts'

/** The parts of an application that the warm-up uses. */
interface WarmableApp {
  readonly readiness: Readiness
  warm(): Promise<WarmModules>
}

const PROBE_PATH = withBasePath('/') // any answer below 500 shows that the whole stack renders
const RETRY_MS = 1_000

/** Where the server listens, and the `Host` that it accepts. */
interface ProbeTarget {
  readonly address: string
  readonly port: number
  readonly host: string
}

/**
 * Renders a real page through the socket, the guard and React, and then marks the server ready. Retries in the background:
 * a page that fails now may work when a dependency is back. A module that cannot be loaded is another matter: it makes its
 * own routes fail, and keeps the server from being ready only where no page works without it. In development nothing is loaded before a page asks for it:
 * the server starts after each save, and the home page may be broken or slow.
 * @returns resolves after the first try.
 */
export async function warmUp(app: WarmableApp, port: number, config: Config, log: Logger): Promise<void> {
  if (process.env['NODE_ENV'] === 'development') return app.readiness.markReady()
  const address = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '[::1]' : bracketed(config.host)
  const target = { address, port, host: someHost(config.origins) ?? `localhost:${port}` }
  const attempt = async (): Promise<void> => {
    if (await canRender(app, target, log)) return app.readiness.markReady()
    if (app.readiness.state() === 'starting') setTimeout(() => void attempt(), RETRY_MS).unref()
  }
  await attempt()
}

/**
 * As `warmUp`, before the server listens, by a loopback port of its own: where workers share the public port, any of them
 * may get a request.
 */
export async function warmUpPrivately(app: WarmableApp, server: Server, config: Config, log: Logger): Promise<void> {
  const door = createServer((socket) => void server.emit('connection', socket))
  door.listen({ port: 0, host: '127.0.0.1', exclusive: true })
  await once(door, 'listening')
  door.unref()
  await warmUp(app, (door.address() as AddressInfo).port, { ...config, host: '127.0.0.1' }, log)
  if (app.readiness.state() === 'ready') door.close()
}

async function canRender(app: WarmableApp, target: ProbeTarget, log: Logger): Promise<boolean> {
  try {
    const { homeFails } = await app.warm()
    const status = await requestStatus(target)
    if (homeFails) return true
    if (status >= 500) log.warn({ status }, 'the first page cannot be rendered yet')
    return status < 500
  } catch (error) {
    log.warn({ err: { message: error instanceof Error ? error.message : String(error) } }, 'not ready yet')
    return false
  }
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The page is requested by the server itself, so it is not traced. */
const UNTRACED = traceHeader({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), sampled: false })

/** Uses `node:http`, because `fetch` cannot set `Host`. */
function requestStatus({ address, port, host }: ProbeTarget): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, connection: 'close', 'sentry-trace': UNTRACED }
    request(`http://${address}:${port}${PROBE_PATH}`, { headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}
