import { request } from 'node:http'
import type { Logger } from 'pino'
import { traceHeader } from '../../shared/reports/trace-header.ts'
import type { Config } from '../config/config.ts'
import { someHost } from '../http/public-origins.ts'
import type { Readiness } from './readiness.ts'

/** What the warm-up needs of an application. */
export interface WarmableApp {
  readonly readiness: Readiness
  /** Loads every module of the table. */
  warm(): Promise<void>
}

/** Any answer that is not a failure shows that the whole stack renders. */
const PROBE_PATH = '/'
const RETRY_MS = 1_000

/**
 * Renders a real page through the socket, the guard and React, and only then calls the server ready. Keeps trying
 * behind the caller's back: a page that fails now may work when a dependency is back.
 * @returns after the first try.
 */
export async function warmUp(app: WarmableApp, port: number, config: Config, log: Logger): Promise<void> {
  const address = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '[::1]' : bracketed(config.host)
  const attempt = async (): Promise<void> => {
    if (await canRender(app, address, port, config, log)) return app.readiness.markReady()
    if (app.readiness.state() === 'starting') setTimeout(() => void attempt(), RETRY_MS).unref()
  }
  await attempt()
}

async function canRender(
  app: WarmableApp,
  address: string,
  port: number,
  config: Config,
  log: Logger,
): Promise<boolean> {
  try {
    await app.warm()
    const host = someHost(config.origins) ?? `localhost:${port}`
    const status = await requestStatus(address, port, host)
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

/** Nobody has asked for this page, so its work is not traced. */
const UNTRACED = traceHeader({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), sampled: false })

/** By `node:http`, because `fetch` lets nobody name the `Host`. */
function requestStatus(address: string, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, connection: 'close', 'sentry-trace': UNTRACED }
    request(`http://${address}:${port}${PROBE_PATH}`, { headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}
