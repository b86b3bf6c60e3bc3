import type { IncomingMessage, ServerResponse } from 'node:http'
import { pino } from 'pino'
import { RequestContext } from '../../../src/server/request/context.ts'
import type { RequestServices } from '../../../src/server/request/context.ts'

/** A request without a socket, and what is logged for it. */
interface DetachedRequest {
  readonly context: RequestContext
  /** Log entries so far, parsed. */
  readonly logs: readonly Record<string, unknown>[]
}

/** Makes a context for parts that need one and touch neither request nor response. */
export function detachedRequest(): DetachedRequest {
  const logs: Record<string, unknown>[] = []
  const context = new RequestContext({
    req: { method: 'GET', headers: {}, rawHeaders: [] } as unknown as IncomingMessage,
    res: { closed: false } as ServerResponse,
    pathname: '/',
    search: '',
    clientAddress: { address: '127.0.0.1', protocol: 'http', host: 'localhost' },
    requestId: '5'.repeat(32),
    log: pino(
      // As it was handed over: pino's own serializer would rename its type.
      { base: null, serializers: { err: (described: unknown) => described } },
      { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) },
    ),
    newNonce: () => 'test-nonce',
    services: { dataLifetime: {} } as RequestServices,
    startedAt: 0,
  })
  return { context, logs }
}
