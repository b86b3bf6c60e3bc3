import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '../../config/config.ts'
import { shareConnections } from '../share-connections.ts'
import { endSlowReaders } from '../slow-readers.ts'
import { TRUST_NOBODY } from '../../http/trusted-proxy.ts'

/** Options of the metrics port. */
export interface ServeMetricsOptions {
  readonly config: Pick<Config, 'host' | 'metricsPort'>
  /** All metrics as text. */
  readonly text: () => Promise<string>
}

const MAX_CONNECTIONS = 16 // scrapers, not visitors
/** Source: Prometheus, "Exposition formats". */
const EXPOSITION_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'
const REQUEST_MS = 10_000
const KEEP_ALIVE_MS = 5_000 // scrapers ask every 15 s or so, and may reconnect

/**
 * Opens the port of `/metrics`, and of nothing else.
 * @returns the port, once it is open.
 * @throws {Error} when it cannot be opened.
 */
export async function serveMetrics({ config, text }: ServeMetricsOptions): Promise<number> {
  const server: Server = createServer({ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }, (req, res) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      res.writeHead(status, {
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(body),
        'Cache-Control': 'no-store',
        ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
      })
      res.end(req.method === 'HEAD' ? undefined : body)
    }
    if (req.url?.split('?')[0] !== '/metrics') return answer(404, 'Not found\n')
    if (req.method !== 'GET' && req.method !== 'HEAD') return answer(405, 'Method not allowed\n')
    text().then(
      (body) => answer(200, body, EXPOSITION_FORMAT),
      () => answer(500, 'The metrics cannot be read\n'),
    )
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.maxConnections = MAX_CONNECTIONS
  shareConnections(server, { trustProxy: TRUST_NOBODY })
  endSlowReaders(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Not shared with workers: one process serves the metrics.
    server.listen({ port: config.metricsPort, host: config.host, exclusive: true }, resolve)
  })
  server.unref()
  return (server.address() as AddressInfo).port
}
