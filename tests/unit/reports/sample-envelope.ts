import { serializeEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import type { AcceptedEnvelope } from '../../../src/server/reports/intake/accepted-envelope.ts'
/** A moment: all tests of the spool begin here. */
export const NOW = 1_800_000_000_000

/** What a test may choose about an envelope. */
export type EnvelopeChoice = Partial<Omit<AcceptedEnvelope, 'body'>> & { readonly bytes?: number }

/** An error's envelope unless told otherwise, with a body of some bytes. */
export function sampleEnvelope({ bytes, ...choice }: EnvelopeChoice = {}): AcceptedEnvelope {
  const categories = choice.categories ?? { error: 1 }
  const eventId = choice.eventId ?? '0'.repeat(32)
  return {
    receivedAt: NOW,
    client: '192.0.2.1',
    headers: { 'user-agent': 'test' },
    keep: 'error' in categories || 'internal' in categories ? 'error' : 'other',
    ...choice,
    eventId,
    categories,
    body: bytes === undefined ? eventEnvelope(eventId) : Buffer.alloc(bytes, 'x'),
  }
}

/** The bytes of an envelope that holds one event. */
export function eventEnvelope(eventId: string, event: object = { message: 'sample' }): Buffer {
  return serializeEnvelope({
    header: { event_id: eventId },
    items: [
      {
        type: 'event',
        header: { type: 'event' },
        payload: Buffer.from(JSON.stringify({ event_id: eventId, ...event })),
      },
    ],
  })
}
