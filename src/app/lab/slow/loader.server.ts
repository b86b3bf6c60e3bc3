import { setTimeout as delay } from 'node:timers/promises'
import { notFound } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'

const LONGEST_MS = 30_000 // a visitor cannot park a connection here for longer

/** Waits for as long as the URL says; stops waiting when the visitor has gone. */
export async function loader({ params, signal }: LoaderArgs<'/lab/slow/[ms]'>) {
  if (!/^\d{1,9}$/.test(params.ms)) notFound()
  const waitedMs = Math.min(Number(params.ms), LONGEST_MS)
  await delay(waitedMs, undefined, { signal })
  return { waitedMs }
}
