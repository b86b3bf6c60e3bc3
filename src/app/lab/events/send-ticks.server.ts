import type { EventStream } from 'millrace/server'

const EVERY_MS = 1_000
const MOST_TICKS = 300 // five minutes; a browser connects again by itself

/** Sends the first tick at once, then one every second. */
export function sendTicks({ send, end }: Pick<EventStream, 'send' | 'end'>): () => void {
  let tick = 0
  const next = (): void => {
    if (tick === MOST_TICKS) return end()
    tick += 1
    send({ id: String(tick), event: 'tick', data: { tick } })
  }
  next()
  const timer = setInterval(next, EVERY_MS)
  return () => clearInterval(timer)
}
