import { setTimeout as delay } from 'node:timers/promises'
import type { LoaderArgs } from 'millrace/server'

const VERDICT_AFTER_MS = 300 // long enough that the shell has certainly gone out

/** Names the target only after the shell has gone out. */
export function loader({ signal }: LoaderArgs<'/lab/redirect/late'>) {
  return { target: delay(VERDICT_AFTER_MS, '/lab/landed', { signal }) }
}
