import type { LoaderArgs } from 'millrace/server'
import { createChangeStream } from './change-stream.server.ts'
import { guestbookOf } from './guestbook.server.ts'

const KEEP_ALIVE_MS = 20_000 // proxies close what has been silent for 30 or 60 s

/** Tells open pages that the guestbook has changed. How many may listen, and of one client, the runtime bounds. */
export function GET({ signal, context }: LoaderArgs<'/lab/guestbook/events'>): Response {
  const stream = createChangeStream({ guestbook: guestbookOf(context), keepAliveMs: KEEP_ALIVE_MS, signal })
  return new Response(stream, {
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  })
}
