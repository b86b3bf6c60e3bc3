import type { CachedRead } from './cached-read.ts'
/** Whoever asks meanwhile waits for the same: a source that never answers must not hold a value for ever. */
const READ_LIMIT_MS = 30_000

/**
 * Makes a value in bounded time.
 * @param name of the value, for the message.
 * @throws what `read` throws; a `TimeoutError` when it takes too long.
 */
export async function limitedRead<Value>(
  name: string,
  read: CachedRead<Value>,
  limitMs: number = READ_LIMIT_MS,
): Promise<Value> {
  const controller = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new DOMException(`cached(${name}) has taken longer than ${limitMs} ms`, 'TimeoutError')
    reject(error)
    controller.abort(error)
  }, limitMs)
  try {
    return await Promise.race([read({ signal: controller.signal }), late])
  } finally {
    clearTimeout(timer)
  }
}
