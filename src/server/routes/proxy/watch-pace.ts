import type { ClientRequest, IncomingMessage } from 'node:http'
import { BODY_SILENCE_MS } from '../../http/body/body-limits.ts'
import { createBodyPace } from '../../http/body/body-pace.ts'
import { createPatience } from './patience.ts'

/**
 * Holds a visitor whose body is passed on to the pace that `openBodySource` asks for: the other server waits with it, and
 * may have few places. Time that the other server takes does not count.
 * @param isAwaited whether the next byte is the visitor's turn.
 * @param tooSlow called at most once.
 * @returns ends the watch.
 */
export function watchPace(
  req: IncomingMessage,
  upstream: ClientRequest,
  { isAwaited, tooSlow }: { readonly isAwaited: () => boolean; readonly tooSlow: () => void },
): () => void {
  const pace = createBodyPace()
  let since = performance.now()
  const patience = createPatience(BODY_SILENCE_MS, isAwaited, expire)
  const taken = (): void => {
    patience.renew()
    since = performance.now()
  }
  const count = (chunk: Buffer): void => {
    pace.wait(performance.now() - since)
    taken()
    if (pace.isTooSlow(chunk.length)) expire()
  }
  req.on('data', count)
  upstream.on('drain', taken)
  return stop

  function expire(): void {
    stop()
    tooSlow()
  }

  function stop(): void {
    patience.stop()
    req.off('data', count)
    upstream.off('drain', taken)
  }
}
