import type { NextFunction, RequestHandler } from 'express'

/**
 * Combines several handlers into one. Express does more work between two layers than most of our handlers do, and each
 * of them sees every request; here no path is matched and nothing is mounted. As in Express, a handler that throws,
 * rejects or calls `next` with an error ends the sequence.
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
