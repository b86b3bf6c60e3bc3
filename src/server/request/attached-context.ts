import type { IncomingMessage } from 'node:http'
import type { RequestContext } from './context.ts'

const CONTEXT = Symbol('millrace.request-context')

/** Attaches the context for the middleware after the guard. */
export function attachContext(req: IncomingMessage, context: RequestContext): void {
  ;(req as { [CONTEXT]?: RequestContext })[CONTEXT] = context
}

/**
 * The context of a request.
 * @throws {Error} if the guard has not run: a wrong order of middleware.
 */
export function contextOf(req: IncomingMessage): RequestContext {
  const context = (req as { [CONTEXT]?: RequestContext })[CONTEXT]
  if (context === undefined) throw new Error('This middleware runs before the request has a context')
  return context
}
