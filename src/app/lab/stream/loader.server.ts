import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'

/** `delay`: how long the deferred part takes, in ms. The upper bound keeps a visitor from parking connections here. */
export const search = z.object({ delay: boundedInteger({ min: 0, max: 30_000, fallback: 1_000 }) })

type Search = z.output<typeof search>

/** Returns at once; the member `deferred` follows after the delay. */
export function loader({ search, signal }: LoaderArgs<'/lab/stream', Search>) {
  return {
    delayMs: search.delay,
    deferred: delay(search.delay, `Arrived ${search.delay} ms after the shell`, { signal }),
  }
}
