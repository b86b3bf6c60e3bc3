import { UnavailableError } from '#server'
import type { LoaderArgs } from '#server'
import { createChangeStream } from './change-stream.server.ts'
import { guestbookOf } from './guestbook.server.ts'

const KEEP_ALIVE_MS = 20_000 // proxies close what has been silent for 30 or 60 s
const MOST_READERS = 1_000 // each holds a connection

const readers = new Set<symbol>()

/** Tells open pages that the guestbook has changed. */
export function GET({ signal, context }: LoaderArgs<'/lab/guestbook/events'>): Response {
  if (readers.size >= MOST_READERS) throw new UnavailableError('Too many pages listen to the guestbook')
  const reader = Symbol('reader')
  const stream = createChangeStream({
    guestbook: guestbookOf(context),
    keepAliveMs: KEEP_ALIVE_MS,
    signal,
    onEnd: () => readers.delete(reader),
  })
  if (!signal.aborted) readers.add(reader)
  return new Response(stream, {
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  })
}
