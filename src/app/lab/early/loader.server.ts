import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'

/** `delay`: how long the page takes, in ms. The upper bound is within the time that a render has by default. */
export const search = z.object({ delay: boundedInteger({ min: 0, max: 8_000, fallback: 1_000 }) })

type Search = z.output<typeof search>

/** Waits for as long as the URL says; stops waiting when the visitor has gone. */
export async function loader({ search, signal }: LoaderArgs<'/lab/early', Search>) {
  await wait(search.delay, undefined, { signal })
  return { delayMs: search.delay }
}
