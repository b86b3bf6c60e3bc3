import { eventStream } from 'millrace/server'
import { sendTicks } from './send-ticks.server.ts'

/** An event stream: one `tick` a second until the visitor leaves. */
export function GET(): Response {
  return eventStream(sendTicks)
}
