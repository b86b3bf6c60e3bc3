import type { LoaderContext } from 'millrace/server'

/**
 * The start of absolute URLs, and how an answer with them may be cached. Without `ORIGIN` it is the `Host` that the visitor
 * has sent, which no cache may give to others.
 * @param seconds for which caches may share the answer.
 */
export function publicOrigin(request: Request, context: LoaderContext, seconds: number) {
  const { origin } = context
  return origin === undefined
    ? { origin: new URL(request.url).origin, caching: 'private, no-store' }
    : { origin, caching: `public, max-age=${seconds}` }
}
