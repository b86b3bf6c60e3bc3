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
  ReportFilter,
  ReportGroup,
  ReportInbox,
  ReportItem,
  ReportPage,
  ReportSide,
} from '../../api/report-inbox.ts'
import { fingerprintOf, readEvent } from './inbox-event.ts'
import { createFrameResolver } from './inbox-frames.ts'
import { groupOf } from './inbox-grouping.ts'
import { isFilter, searchGroups } from './inbox-search.ts'
import { createLargeBodies, PIECE_BYTES, piecesOf } from '../large-bodies.ts'
import { holdsMost, planEviction, type EvictionSource, type Holding } from '../plan-eviction.ts'
import { SpoolFullError, type AcceptedEnvelope, type Awaitable } from '../intake/accepted-envelope.ts'
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
  readonly mapsFolder?: string | undefined
  readonly bounds?: InboxBounds
  /** As for `createLargeBodies`. */
  readonly wrote?: (writes: number) => void
}

/** The inbox with write access. */
export interface InboxStore extends ReportInbox {
  /**
   * Stores an envelope; after this returns, it survives the end of the process.
   * @throws {SpoolFullError} if it cannot be stored.
   * @param pieces names the body if all of it is written already.
   * @throws {EnvelopeError} for invalid bytes.
   */
  accept(envelope: AcceptedEnvelope, pieces?: string): void
  /** As `accept`; a large body is written in several turns of the event loop. */
  take(envelope: AcceptedEnvelope): Awaitable<void>
  /**
   * Evicts about so many bytes, as it would at its bound for this envelope; nothing if they are not there.
   * @throws {SpoolFullError} as `accept`.
   */
  free(envelope: AcceptedEnvelope, bytes: number): void
}

type Row = Readonly<Record<string, unknown>>

const INSERT = 'INSERT INTO inbox (received_at, bytes, client, pieces) VALUES (?, ?, ?, ?)'
const INSERT_BODY = 'INSERT INTO inbox_bodies (id, body) VALUES (?, ?)'
const INSERT_ITEM = `
INSERT INTO inbox_items
  (envelope, position, received_at, kind, side, level, group_id, title, route, release, digest, event_id, trace)
VALUES (
  :envelope, :position, :receivedAt, :kind, :side, :level, :group, :title, :route, :release, :digest, :eventId, :trace
)`
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
SELECT shown.*, last.title, last.route, last.level, last.received_at AS last_at, last.release AS last_release,
  first.received_at AS first_at, first.release AS first_release
FROM shown JOIN inbox_items AS last ON last.id = newest
JOIN inbox_items AS first ON first.id = (SELECT min(id) FROM inbox_items WHERE group_id = shown.group_id)
ORDER BY newest DESC`
/** By the index alone: finds a page without reading those before it. */
const PAGE_OF_GROUPS = groupsOf(`
SELECT * FROM inbox_failures WHERE group_id IN (
  SELECT group_id FROM inbox_failures ORDER BY newest DESC LIMIT ? OFFSET ?
)`)
const GROUP = groupsOf('SELECT * FROM inbox_failures WHERE group_id = ?')
/** Of the newest events only: the list of releases is not worth more. */
const RELEASES = `
SELECT release FROM inbox_items
WHERE release IS NOT NULL AND group_id IS NOT NULL AND id > (SELECT coalesce(max(id), 0) - 1000 FROM inbox_items)
GROUP BY release ORDER BY count(*) DESC, max(id) DESC LIMIT 20`
const COUNT_GROUPS = 'SELECT count(*) AS total FROM inbox_failures'
const ITEMS = 'SELECT * FROM inbox_items WHERE group_id = ? ORDER BY id DESC LIMIT ?'
const ITEM = 'SELECT * FROM inbox_items WHERE group_id = ? AND id = ?'
const TRACE = 'SELECT * FROM inbox_items WHERE trace = ? AND id <> ? ORDER BY id LIMIT ?'
const BODY = 'SELECT body FROM inbox_bodies WHERE id = ?'
const PIECES = 'SELECT pieces FROM inbox WHERE id = ?'

/** An `InboxStore` in a file with `INBOX_TABLES`; shared by all processes that have it open. */
export function createInbox(database: Database, { mapsFolder, bounds = BOUNDS, wrote }: InboxOptions = {}): InboxStore {
  const largeBodies = createLargeBodies(database, wrote)
  const resolveFrames = createFrameResolver(mapsFolder)

  function insert(
    { receivedAt, client, body }: AcceptedEnvelope,
    items: readonly IndexedItem[],
    pieces: string | undefined,
  ): void {
    const at = Math.trunc(receivedAt)
    const { lastInsertRowid } = database.statement(INSERT).run(at, body.length, client, pieces ?? null)
    if (pieces === undefined) database.statement(INSERT_BODY).run(lastInsertRowid, body)
    for (const item of items)
      database.statement(INSERT_ITEM).run({ envelope: lastInsertRowid, receivedAt: at, ...item })
  }

  function envelope(id: number): Buffer | undefined {
    const body = database.statement(BODY).get(id)?.['body'] as Uint8Array | undefined
    if (body !== undefined) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const pieces = database.statement(PIECES).get(id)?.['pieces']
    return typeof pieces === 'string' ? Buffer.concat([...piecesOf(database, pieces)]) : undefined
  }

  function payloadOf(row: Row): Readonly<Record<string, unknown>> {
    const bytes = envelope(Number(row['envelope']))
    const { header, items } = bytes === undefined ? { header: {}, items: [] } : parseEnvelope(bytes)
    const item = items[Number(row['position'])]
    return item === undefined ? {} : (parsePayload(item, header) ?? {})
  }

  function accept(accepted: AcceptedEnvelope, pieces?: string): void {
    if (accepted.body.length > bounds.bytes) throw new SpoolFullError('bound')
    const items = indexItems(accepted.body)
    const isKept = write(() => {
      if (!makeRoom(database, bounds, accepted)) return false
      insert(accepted, items, pieces)
      return true
    })
    if (!isKept) throw new SpoolFullError('bound')
  }

  function write<Result>(work: () => Result): Result {
    try {
      return database.write(work)
    } catch (thrown) {
      throw new SpoolFullError('disk', thrown)
    }
  }

  return {
    accept,

    take(envelope) {
      const { body, receivedAt } = envelope
      if (body.length <= PIECE_BYTES) return accept(envelope)
      return largeBodies
        .write(body, receivedAt, (pieces) => accept(envelope, pieces))
        .catch((thrown: unknown) => {
          throw thrown instanceof SpoolFullError ? thrown : new SpoolFullError('disk', thrown)
        })
    },

    free(envelope, bytes) {
      if (holdsMost(sourceOf(database, 'bytes'), bytes)) write(() => makeRoom(database, bounds, envelope, bytes))
    },

    list(asked, filter = {}): ReportPage {
      const envelopes = Number(database.statement(TOTALS).get()?.['envelopes'])
      return { ...(isFilter(filter) ? listFound(database, asked, filter) : listAll(database, asked)), envelopes }
    },

    releases: () =>
      database
        .statement(RELEASES)
        .all()
        .map((row) => String(row['release'])),

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

type PageOfGroups = Omit<ReportPage, 'envelopes'>

function listAll(database: Database, asked: number): PageOfGroups {
  const total = Number(database.statement(COUNT_GROUPS).get()?.['total'])
  const { page, pages, offset } = placeOf(asked, total)
  const rows = database.statement(PAGE_OF_GROUPS).all(GROUPS_A_PAGE, offset)
  return { groups: rows.map(toGroup), page, pages, total }
}

function listFound(database: Database, asked: number, filter: ReportFilter): PageOfGroups {
  const { found, total } = searchGroups(database, filter, { most: GROUPS_A_PAGE, offset: (asked - 1) * GROUPS_A_PAGE })
  const { page, pages } = placeOf(asked, total)
  const groups = found.flatMap(({ group, item }): ReportGroup[] => {
    const row = database.statement(GROUP).get(group)
    return row === undefined ? [] : [{ ...toGroup(row), item }]
  })
  return { groups, page, pages, total }
}

function placeOf(asked: number, total: number): Readonly<Record<'page' | 'pages' | 'offset', number>> {
  const pages = Math.max(1, Math.ceil(total / GROUPS_A_PAGE))
  const page = Math.min(asked, pages)
  return { page, pages, offset: (page - 1) * GROUPS_A_PAGE }
}

/** @returns whether there is room now. @param least bytes to evict, for a reason that is not in the bounds. */
function makeRoom(
  database: Database,
  bounds: NonNullable<InboxOptions['bounds']>,
  { client, body }: AcceptedEnvelope,
  least = 0,
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
        need: Math.max(
          amountIn(database.statement(TOTALS).get(), measure) + size - most,
          measure === 'bytes' ? least : 0,
        ),
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

type IndexedItem = Readonly<Record<'kind' | 'side' | 'level' | 'title', string>> &
  Readonly<Record<'group' | 'route' | 'release' | 'digest' | 'eventId' | 'trace', string | null>> & {
    readonly position: number
  }

function indexItems(body: Buffer): IndexedItem[] {
  const { header, items } = parseEnvelope(body)
  // Chosen before parsing: twenty megabytes of events would take a quarter of a second.
  return items
    .map((item, position) => ({ item, position }))
    .filter(({ item: { type } }) => type === 'event' || type === 'transaction')
    .slice(0, MOST_ITEMS_AN_ENVELOPE)
    .flatMap(({ item, position }) => indexItem(item, position, header))
}

function indexItem(item: EnvelopeItem, position: number, header: EnvelopeItem['header']): IndexedItem | [] {
  const payload = parsePayload(item, header)
  if (payload === undefined) return []
  const event = readEvent(payload)
  const isError = item.type === 'event'
  const { side, level, title, route = null, release = null, digest = null, trace = null } = event
  return {
    position,
    kind: isError ? 'error' : 'transaction',
    side,
    level,
    group: isError ? groupOf(event, fingerprintOf(payload)) : null,
    title,
    route,
    release,
    digest,
    eventId: event.eventId.toLowerCase().replaceAll('-', '') || null,
    trace,
  }
}

function parsePayload(
  { type, payload }: EnvelopeItem,
  { event_id }: EnvelopeItem['header'],
): Readonly<Record<string, unknown>> | undefined {
  if (payload.length > MOST_EVENT_BYTES)
    return { event_id, message: `An event of ${payload.length} bytes, too large to be shown` }
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    // The item's type counts: the event itself may lack one, and its id, which the envelope has too.
    return isRecord(value) ? { event_id, ...value, type } : undefined
  } catch {
    return undefined
  }
}

function toGroup(row: Row): ReportGroup {
  return {
    id: String(row['group_id']),
    title: String(row['title']),
    route: optional(row['route']),
    level: String(row['level']),
    sides: SIDES.filter((side) => Number(row[side]) > 0),
    releases: [...new Set([optional(row['first_release']), optional(row['last_release'])])].filter(
      (release) => release !== undefined,
    ),
    count: Number(row['events']),
    firstAt: Number(row['first_at']),
    lastAt: Number(row['last_at']),
    item: Number(row['newest']),
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
