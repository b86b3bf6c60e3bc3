import type { RequestHandler } from 'express'
import { sendText } from '../render/send-plain.ts'
import { contextOf } from '../request/context.ts'
import type { Readiness } from './readiness.ts'

/** `/healthz`: the process is alive, whatever the load. `/readyz`: it wants traffic. */
export function serveHealth(readiness: Readiness): RequestHandler {
  return (req, _res, next) => {
    const context = contextOf(req)
    const { pathname } = context
    if (pathname !== '/healthz' && pathname !== '/readyz') return next()
    context.route = pathname
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return sendText(context, 405, 'Method not allowed', ['Allow', 'GET, HEAD'])
    }
    if (pathname === '/healthz') return sendText(context, 200, 'ok')
    const state = readiness.state()
    if (state === 'ready') return sendText(context, 200, state)
    return sendText(context, 503, state, ['Retry-After', '1'])
  }
}
