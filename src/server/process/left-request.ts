import { RequestAborted } from '../request/request-aborted.ts'

/** `new Response(generator())` closes its stream when the generator ends, also after it was cancelled (undici 8.10). */
const CLOSED_TWICE = /^\s*at ReadableByteStreamController\.close .*\n.*\bundici\b/m

/**
 * Whether what nobody has caught only says that a request is over: a loader has begun something before it turned out that its
 * page cannot be kept or that its visitor has left, or a generator has ended after its visitor has left. Neither breaks
 * anything else, so a visitor who leaves must not end the process.
 */
export function isOfLeftRequest(thrown: unknown): boolean {
  if (thrown instanceof RequestAborted) return true
  // Timers, streams and fetches make an error of their own, with the reason of the signal.
  if (thrown instanceof Error && thrown.name === 'AbortError' && thrown.cause instanceof RequestAborted) return true
  return (
    thrown instanceof TypeError &&
    'code' in thrown &&
    thrown.code === 'ERR_INVALID_STATE' &&
    CLOSED_TWICE.test(thrown.stack ?? '')
  )
}
