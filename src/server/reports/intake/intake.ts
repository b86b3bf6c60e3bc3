import { randomUUID } from 'node:crypto'
import { joinInTurns } from '../../http/body/join-in-turns.ts'
import { EnvelopeError, parseEnvelope, rewriteEnvelope, type Envelope, type EnvelopeItem } from './envelope.ts'
import { chooseJudged, filterItems } from './filter-envelope.ts'
import { isPrecious, itemCategory } from './item-category.ts'
import type { AcceptedEnvelope, Awaitable } from './accepted-envelope.ts'
/** From this difference on, the service considers a client's clock wrong and corrects its times. Milliseconds. */
const CLOCK_TOLERANCE_MS = 55 * 60_000
const EVENT_ID = /^[0-9a-f]{32}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Items that the service stores under the envelope's event id. */
const WITH_EVENT_ID: ReadonlySet<string> = new Set(['event', 'transaction', 'feedback', 'security'])

/** Sender of an envelope. */
export interface ReportSender {
  /** A browser's network as `clientKey` names it, or a name for a server. */
  readonly client: string
  /** Passed on to the service. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Called with the work that an envelope causes, as JSON values: before they are parsed, and where it is refused for
   * them. An error that it throws refuses the envelope.
   */
  readonly charge?: (values: number) => Promise<void>
  /** Set for this server, which sends only real failures, whatever their names. */
  readonly isServer?: boolean
}

/** Result of taking an envelope. */
export interface Receipt {
  readonly eventId: string | undefined
  /** `false` if nothing reportable was left. */
  readonly kept: boolean
}

/** The only entrance for reports of all senders. */
export interface Intake {
  /**
   * Filters and keeps an envelope.
   * @throws {EnvelopeError} for invalid bytes.
   * @throws errors of keeping it.
   * @returns resolves once it is kept.
   */
  take(bytes: Buffer, sender: ReportSender): Promise<Receipt>
}

/** Parts of an intake. */
interface IntakeParts {
  readonly relayPath: string
  /** Keeps an envelope durably. */
  readonly accept: (envelope: AcceptedEnvelope) => Awaitable<void>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Returns a new UUID. */
  readonly newId?: () => string
}

/** Creates an intake. */
export function createIntake({ relayPath, accept, now, newId = randomUUID }: IntakeParts): Intake {
  return {
    async take(bytes, { client, headers, charge, isServer = false }) {
      const receivedAt = now()
      const { envelope, judged } = await read(bytes, charge)
      const items = filterItems(envelope.items, judged, { relayPath, keepsErrors: isServer })
      const { header } = envelope
      const eventId = eventIdOf(header, items, newId)
      if (items.length === 0) return { eventId, kept: false }
      await accept({
        receivedAt,
        client,
        eventId,
        headers,
        body: await joinInTurns(rewriteEnvelope(envelope, items, headerChanges(header, eventId, receivedAt))),
        categories: countCategories(items),
        keep: items.some(({ type }) => isPrecious(itemCategory(type))) ? 'error' : 'other',
      })
      return { eventId, kept: true }
    },
  }
}

/** Reads an envelope, and chooses what to parse of it; charges for both, whatever becomes of it. */
async function read(bytes: Buffer, charge: ReportSender['charge']) {
  let work = 0
  try {
    const envelope = parseEnvelope(bytes)
    work = envelope.values
    const { judged, values } = chooseJudged(envelope.items)
    work += values
    return { envelope, judged }
  } catch (error) {
    if (error instanceof EnvelopeError) work += error.values
    throw error
  } finally {
    if (work > 0) await charge?.(work)
  }
}

/** An event without an id gets one here: otherwise the service would choose a new one for each attempt. */
function eventIdOf(
  header: Envelope['header'],
  items: readonly EnvelopeItem[],
  newId: () => string,
): string | undefined {
  const { event_id: stated } = header
  if (typeof stated === 'string' && EVENT_ID.test(stated)) return plainId(stated)
  const event = items.find(({ type }) => WITH_EVENT_ID.has(type))
  if (event === undefined) return undefined
  const own = /"event_id"\s*:\s*"([0-9a-f-]{32,36})"/i.exec(event.payload.toString('latin1', 0, 65_536))?.[1] ?? ''
  return plainId(EVENT_ID.test(own) ? own : newId())
}

/**
 * The service interprets the time between `sent_at` and arrival as an error of the client's clock, and shifts all times
 * by it. An envelope that waits here would be dated to its delivery, so `sent_at` is removed if the clock is right.
 */
function headerChanges(
  { sent_at: sentAt, event_id: stated }: Envelope['header'],
  eventId: string | undefined,
  receivedAt: number,
): Record<string, string | undefined> {
  const isWrong = typeof sentAt === 'string' && Math.abs(Date.parse(sentAt) - receivedAt) >= CLOCK_TOLERANCE_MS
  const isStated = typeof stated === 'string' && plainId(stated) === eventId
  return {
    ...(sentAt === undefined || isWrong ? {} : { sent_at: undefined }),
    ...(eventId === undefined || isStated ? {} : { event_id: eventId }),
  }
}

function countCategories(items: readonly EnvelopeItem[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { type, header } of items) {
    const category = itemCategory(type) ?? 'default'
    const { item_count: count } = header
    const quantity = typeof count === 'number' && Number.isInteger(count) && count > 0 ? count : 1
    counts[category] = (counts[category] ?? 0) + Math.min(quantity, MOST_COUNTED)
  }
  return counts
}

/** For one item, whatever its header claims. */
const MOST_COUNTED = 100_000

function plainId(id: string): string {
  return id.replaceAll('-', '').toLowerCase()
}
