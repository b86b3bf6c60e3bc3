import { setTimeout as delay } from 'node:timers/promises'
import type { LoaderArgs } from 'millrace/server'

const FAILS_AFTER_MS = 300 // long enough that the shell has certainly gone out

/** Returns at once; its deferred member fails after the shell has gone out. */
export function loader({ signal }: LoaderArgs<'/lab/crash/late'>) {
  return { entry: failLater(signal) }
}

async function failLater(signal: AbortSignal): Promise<string> {
  await delay(FAILS_AFTER_MS, undefined, { signal })
  throw new Error('The deferred lab value failed on purpose')
}
