/**
 * When to retry loading data.
 *
 * | attempt | wait without Retry-After, in ms |
 * |---------|---------------------------------|
 * | 0       | 225 to 375                      |
 * | 1       | 450 to 750                      |
 * | 2       | 900 to 1,500                    |
 * | 3       | none: the request fails         |
 */

/** Maximum retries of one request for data; then the error boundary is shown. */
export const MAX_RETRIES = 3

/** Longest accepted `Retry-After`, in milliseconds; nobody watches a pending page for longer. */
export const MAX_RETRY_AFTER_MS = 30_000

const FIRST_DELAY_MS = 300 // a server that restarts behind a proxy is back within three retries

/**
 * How long to wait before a retry: 300 ms, doubled with each attempt, plus or minus 25 %, or the server's `Retry-After`
 * if that is longer.
 * @param attempt number of the retry, from 0.
 * @param retryAfterMs from `parseRetryAfter`; `undefined` without the header.
 * @param random from 0 to 1.
 * @returns milliseconds; `undefined` after `MAX_RETRIES`, or if the server asks for more than `MAX_RETRY_AFTER_MS`.
 */
export function retryDelay(attempt: number, retryAfterMs: number | undefined, random: number): number | undefined {
  const asked = retryAfterMs ?? 0
  if (attempt >= MAX_RETRIES || asked > MAX_RETRY_AFTER_MS) return undefined
  return Math.max(asked, FIRST_DELAY_MS * 2 ** attempt * (0.75 + random / 2))
}

/**
 * Waits before a retry.
 * @param attempt number of the retry, from 0.
 * @param retryAfterMs requested by the server.
 * @returns whether to retry; if not, resolves at once.
 */
export type Retry = (attempt: number, retryAfterMs: number | undefined, signal: AbortSignal) => Promise<boolean>

/** @param wait resolves after these milliseconds, or earlier when the network is back or the signal is aborted. */
export function createRetry(
  random: () => number,
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>,
): Retry {
  return async (attempt, retryAfterMs, signal) => {
    const delay = retryDelay(attempt, retryAfterMs, random())
    if (delay !== undefined) await wait(delay, signal)
    return delay !== undefined
  }
}

/** Waits for some milliseconds, or until the network is back or the signal is aborted. */
export function waitIn(window: Window) {
  return (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const over = new AbortController()
      const end = (): void => {
        clearTimeout(timer)
        over.abort()
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      signal.addEventListener('abort', end, { signal: over.signal })
      window.addEventListener('online', end, { signal: over.signal })
    })
}
