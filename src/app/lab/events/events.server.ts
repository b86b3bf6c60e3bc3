import type { LoaderArgs } from 'millrace/server'
import { createTickStream } from './tick-stream.server.ts'

const EVERY_MS = 1_000
const MOST_TICKS = 300 // five minutes; an `EventSource` connects again by itself

/** An event stream: one `tick` a second until the visitor leaves. */
export function GET({ signal }: LoaderArgs<'/lab/events'>): Response {
  return new Response(createTickStream({ everyMs: EVERY_MS, mostTicks: MOST_TICKS, signal }), {
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  })
}
