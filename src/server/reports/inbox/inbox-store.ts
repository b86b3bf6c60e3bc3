/**
 * The inbox in SQLite: up to 10,000 envelopes and 256 MiB, half of it for one client. Without room, the largest client
 * loses its oldest envelopes. Events and transactions are indexed on arrival, and read again from their envelope when
 * somebody views them.
 */
import { isRecord } from '../../../shared/reports/json-values.ts'
import type { Database } from '../../stores/open-database.ts'
import { parseEnvelope, type EnvelopeItem } from '../intake/envelope.ts'
import type {
  ReportDetails,
  ReportGroup,
  ReportInbox,
  ReportItem,
  ReportPage,
  ReportSide,
} from '../../api/report-inbox.ts'
import { fingerprintOf, readEvent } from './inbox-event.ts'
import { createFrameResolver } from './inbox-frames.ts'
import { groupOf } from './inbox-grouping.ts'
import { planEviction, type EvictionSource, type Holding } from '../plan-eviction.ts'
import { SpoolFullError, type AcceptedEnvelope } from '../intake/accepted-envelope.ts'
const MOST_ENVELOPES = 10_000
const MOST_BYTES = 268_435_456
const MOST_ITEMS_AN_ENVELOPE = 4 // that are indexed; SDKs send one, and the list of groups reads the whole index
const MOST_EVENT_BYTES = 1_048_576 // the service's limit; some 10 ms to read
const GROUPS_A_PAGE = 50
const EVICTION_BATCH = 64 // rows read together
const MOST_EVICTED = 2_048 // per call
const MOST_SHOWN = 50
const SIDES: readonly ReportSide[] = ['browser', 'elsewhere', 'server']

/** Numbers of envelopes and bytes. */
interface Amounts {
  readonly envelopes: number
  readonly bytes: number
}

/** Limits of the inbox. */
interface InboxBounds extends Amounts {
  /** Limits for one client; default: as for all. */
  readonly client?: Amounts
}

const BOUNDS: InboxBounds = {
  envelopes: MOST_ENVELOPES,
  bytes: MOST_BYTES,
  client: { envelopes: MOST_ENVELOPES / 2, bytes: MOST_BYTES / 2 },
}

/** Options of an inbox. */
export interface InboxOptions {
  /** Absolute path of this build's source maps, if any. */
  readonly mapsFolder?: string
  readonly bounds?: InboxBounds
}

/** The inbox with write access. */
export interface InboxStore extends ReportInbox {
  /**
   * Stores an envelope; after this returns, it survives the end of the process.
   * @throws {SpoolFullError} if it cannot be stored.
   * @throws {EnvelopeError} for invalid bytes.
   */
  accept(envelope: AcceptedEnvelope): void
}

type Row = Readonly<Record<string, unknown>>

const INSERT = 'INSERT INTO inbox (received_at, bytes, client) VALUES (?, ?, ?)'
const INSERT_BODY = 'INSERT INTO inbox_bodies (id, body) VALUES (?, ?)'
const INSERT_ITEM = `
INSERT INTO inbox_items (envelope, position, received_at, kind, side, group_id, title, route, trace)
VALUES (:envelope, :position, :receivedAt, :kind, :side, :group, :title, :route, :trace)`
const TOTALS = 'SELECT envelopes, bytes FROM inbox_totals'
const DELETE = 'DELETE FROM inbox WHERE id = ?'
const HELD = 'SELECT envelopes, bytes FROM inbox_clients WHERE client = ?'
const GREEDIEST = {
  envelopes: 'SELECT client, envelopes AS amount FROM inbox_clients ORDER BY envelopes DESC LIMIT ?',
  bytes: 'SELECT client, bytes AS amount FROM inbox_clients ORDER BY bytes DESC LIMIT ?',
} as const
const OLDEST_OF = {
  envelopes: 'SELECT id, 1 AS amount FROM inbox WHERE client = ? AND id > ? ORDER BY id LIMIT ?',
  bytes: 'SELECT id, bytes AS amount FROM inbox WHERE client = ? AND id > ? ORDER BY id LIMIT ?',
} as const
const groupsOf = (which: string): string => `
WITH shown AS (${which})
SELECT shown.*, last.title, last.route, last.received_at AS last_at,
  (SELECT received_at FROM inbox_items WHERE group_id = shown.group_id ORDER BY id LIMIT 1) AS first_at
FROM shown JOIN inbox_items AS last ON last.id = newest ORDER BY newest DESC`
/** By the index alone: finds a page without reading those before it. */
const PAGE_OF_GROUPS = groupsOf(`
SELECT * FROM inbox_failures WHERE group_id IN (
  SELECT group_id FROM inbox_failures ORDER BY newest DESC LIMIT ? OFFSET ?
)`)
const GROUP = groupsOf('SELECT * FROM inbox_failures WHERE group_id = ?')
const COUNT_GROUPS = 'SELECT count(*) AS total FROM inbox_failures'
const ITEMS = 'SELECT * FROM inbox_items WHERE group_id = ? ORDER BY id DESC LIMIT ?'
const ITEM = 'SELECT * FROM inbox_items WHERE group_id = ? AND id = ?'
const TRACE = 'SELECT * FROM inbox_items WHERE trace = ? AND id <> ? ORDER BY id LIMIT ?'
const BODY = 'SELECT body FROM inbox_bodies WHERE id = ?'

/** An `InboxStore` in a file with `INBOX_TABLES`; shared by all processes that have it open. */
export function createInbox(database: Database, { mapsFolder, bounds = BOUNDS }: InboxOptions = {}): InboxStore {
  const resolveFrames = createFrameResolver(mapsFolder)

  function insert({ receivedAt, client, body }: AcceptedEnvelope, items: readonly IndexedItem[]): void {
    const at = Math.trunc(receivedAt)
    const { lastInsertRowid } = database.statement(INSERT).run(at, body.length, client)
    database.statement(INSERT_BODY).run(lastInsertRowid, body)
    for (const item of items)
      database.statement(INSERT_ITEM).run({ envelope: lastInsertRowid, receivedAt: at, ...item })
  }

  function envelope(id: number): Buffer | undefined {
    const body = database.statement(BODY).get(id)?.['body'] as Uint8Array | undefined
    return body === undefined ? undefined : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  }

  function payloadOf(row: Row): Readonly<Record<string, unknown>> {
    const bytes = envelope(Number(row['envelope']))
    const item = bytes === undefined ? undefined : parseEnvelope(bytes).items[Number(row['position'])]
    return item === undefined ? {} : (parsePayload(item) ?? {})
  }

  return {
    accept(accepted) {
      if (accepted.body.length > bounds.bytes) throw new SpoolFullError('bound')
      const items = indexItems(accepted.body)
      let isKept: boolean
      try {
        isKept = database.write(() => {
          if (!makeRoom(database, bounds, accepted)) return false
          insert(accepted, items)
          return true
        })
      } catch (thrown) {
        throw new SpoolFullError('disk', thrown)
      }
      if (!isKept) throw new SpoolFullError('bound')
    },

    list(asked): ReportPage {
      const total = Number(database.statement(COUNT_GROUPS).get()?.['total'])
      const pages = Math.max(1, Math.ceil(total / GROUPS_A_PAGE))
      const page = Math.min(asked, pages)
      const rows = database.statement(PAGE_OF_GROUPS).all(GROUPS_A_PAGE, (page - 1) * GROUPS_A_PAGE)
      const envelopes = Number(database.statement(TOTALS).get()?.['envelopes'])
      return { groups: rows.map(toGroup), page, pages, total, envelopes }
    },

    async group(id, item): Promise<ReportDetails | undefined> {
      const group = database.statement(GROUP).get(id)
      const items = database.statement(ITEMS).all(id, MOST_SHOWN)
      const asked = item === undefined ? undefined : database.statement(ITEM).get(id, item)
      const row = asked ?? items[0]
      if (group === undefined || row === undefined) return undefined
      const event = readEvent(payloadOf(row))
      const trace =
        event.trace === undefined ? [] : database.statement(TRACE).all(event.trace, Number(row['id']), MOST_SHOWN)
      return {
        group: toGroup(group),
        item: toItem(row),
        event: await resolveFrames(event),
        envelope: Number(row['envelope']),
        items: items.map(toItem),
        trace: trace.map(toItem),
      }
    },

    envelope,
  }
}

/** @returns whether there is room now. */
function makeRoom(
  database: Database,
  bounds: NonNullable<InboxOptions['bounds']>,
  { client, body }: AcceptedEnvelope,
): boolean {
  const sizes: Amounts = { envelopes: 1, bytes: body.length }
  // Room for one envelope may need few bytes, and room for its bytes no envelope: check each limit separately.
  return (['envelopes', 'bytes'] as const).every((measure) => {
    const [size, most] = [sizes[measure], bounds[measure]]
    const source = sourceOf(database, measure)
    const { rows, outcome } = planEviction(
      {
        sender: client,
        size,
        need: amountIn(database.statement(TOTALS).get(), measure) + size - most,
        ownNeed: source.heldBy(client) + size - (bounds.client?.[measure] ?? most),
        mostRows: MOST_EVICTED,
      },
      source,
    )
    for (const { id } of rows) database.statement(DELETE).run(id)
    return outcome === 'enough'
  })
}

function sourceOf(database: Database, measure: keyof Amounts): EvictionSource<OldEnvelope> {
  return {
    greediest: (most) => database.statement(GREEDIEST[measure]).all(most) as unknown as readonly Holding[],
    heldBy: (client) => amountIn(database.statement(HELD).get(client), measure),
    *rowsOf(client) {
      for (let last = 0; ;) {
        const rows = database.statement(OLDEST_OF[measure]).all(client, last, EVICTION_BATCH)
        yield* rows as unknown as readonly OldEnvelope[]
        if (rows.length < EVICTION_BATCH) return
        last = Number(rows.at(-1)?.['id'])
      }
    },
  }
}

interface OldEnvelope {
  readonly id: number
  readonly amount: number
}

function amountIn(row: Row | undefined, measure: keyof Amounts): number {
  return Number(row?.[measure] ?? 0)
}

type IndexedItem = Readonly<Record<'kind' | 'side' | 'title', string>> &
  Readonly<Record<'group' | 'route' | 'trace', string | null>> & { readonly position: number }

function indexItems(body: Buffer): IndexedItem[] {
  const { items } = parseEnvelope(body)
  // Chosen before parsing: twenty megabytes of events would take a quarter of a second.
  return items
    .map((item, position) => ({ item, position }))
    .filter(({ item: { type } }) => type === 'event' || type === 'transaction')
    .slice(0, MOST_ITEMS_AN_ENVELOPE)
    .flatMap(({ item, position }) => indexItem(item, position))
}

function indexItem(item: EnvelopeItem, position: number): IndexedItem | [] {
  const payload = parsePayload(item)
  if (payload === undefined) return []
  const event = readEvent(payload)
  const isError = item.type === 'event'
  const { side, title, route = null, trace = null } = event
  return {
    position,
    kind: isError ? 'error' : 'transaction',
    side,
    group: isError ? groupOf(event, fingerprintOf(payload)) : null,
    title,
    route,
    trace,
  }
}

function parsePayload({ type, payload }: EnvelopeItem): Readonly<Record<string, unknown>> | undefined {
  if (payload.length > MOST_EVENT_BYTES)
    return { message: `An event of ${payload.length} bytes, too large to be shown` }
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    // The item's type counts: the event itself may lack one.
    return isRecord(value) ? { ...value, type } : undefined
  } catch {
    return undefined
  }
}

function toGroup(row: Row): ReportGroup {
  return {
    id: String(row['group_id']),
    title: String(row['title']),
    route: optional(row['route']),
    sides: SIDES.filter((side) => Number(row[side]) > 0),
    count: Number(row['events']),
    firstAt: Number(row['first_at']),
    lastAt: Number(row['last_at']),
  }
}

function toItem(row: Row): ReportItem {
  return {
    id: Number(row['id']),
    kind: row['kind'] === 'error' ? 'error' : 'transaction',
    side: String(row['side']) as ReportSide,
    title: String(row['title']),
    route: optional(row['route']),
    group: optional(row['group_id']),
    receivedAt: Number(row['received_at']),
  }
}

function optional(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
