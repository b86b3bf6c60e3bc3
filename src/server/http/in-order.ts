import type { NextFunction, RequestHandler } from 'express'

/**
 * Several handlers as one. Between two of its layers Express does more than most of ours do, and all of them see every
 * request; here no path is matched, and nothing is mounted. As in Express, who throws, rejects or calls `next` with
 * an error ends the order.
 */
export function inOrder(...handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    let at = 0
    const step: NextFunction = (error?: unknown) => {
      const handler = error === undefined ? handlers[at++] : undefined
      if (handler === undefined) return next(error)
      try {
        const returned: unknown = handler(req, res, step)
        if (returned instanceof Promise)
          returned.catch((thrown: unknown) => step(thrown ?? new Error('Rejected with nothing')))
      } catch (thrown) {
        next(thrown)
      }
    }
    step()
  }
}
