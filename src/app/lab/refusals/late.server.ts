import { setTimeout as delay } from 'node:timers/promises'
import type { LoaderArgs } from 'millrace/server'

const ANSWER_AFTER_MS = 300 // long enough that the shell has certainly gone out

/** Finds nothing, and only after the shell has gone out. */
export function loader({ signal }: LoaderArgs<'/lab/not-found/late'>) {
  return { entry: delay<string | null>(ANSWER_AFTER_MS, null, { signal }) }
}
