/**
 * The spool in SQLite: at most 256 MiB of envelopes, half of it of one client, none older than seven days. Without
 * room, the largest client loses its oldest, sessions, spans and replays before errors (`spool-room.ts`). Losses are
 * counted in the same transaction.
 */
import type { Database, TransactionPart } from '../../stores/open-database.ts'
import { lossReport, lossesOf, type Loss } from './outcomes.ts'
import { createSpoolRoom, type SpoolBounds, type SpoolRoom, type Waiting } from './spool-room.ts'
import { SpoolFullError, type AcceptedEnvelope } from '../intake/accepted-envelope.ts'
import { PIECE_BYTES, piecesOf } from '../large-bodies.ts'
import {
  kindOf,
  spooledSize,
  type LossReason,
  type LocalSpool,
  type SpooledEntry,
  type SpooledEnvelope,
} from './spool.ts'

const MOST_BYTES = 268_435_456 // 60,000 envelopes of 4 kB: hours of an outage, and little disk space
const MOST_AGE_MS = 7 * 86_400_000 // a long weekend; services accept events of the last 30 days
const EXPIRY_BATCH = 512 // rows: some 5 ms

const BOUNDS: SpoolBounds = { bytes: MOST_BYTES, clientBytes: MOST_BYTES / 2, ageMs: MOST_AGE_MS }

/** Destination and limits of a spool. */
export interface SpoolOptions {
  /**
   * Identifies the project of the service, for instance by a digest of its DSN. Envelopes wait for their own
   * destination: after a change of the DSN, the new one never gets envelopes of the old one.
   */
  readonly destination: string
  readonly bounds?: SpoolBounds
}

type Row = Readonly<Record<string, unknown>>

interface Total extends Waiting {
  envelopes: number
  bytes: number
  /** Of all envelopes that ever existed. */
  lastId: number
}

const INSERT = `
INSERT INTO spool (id, destination, kind, keep, received_at, client, event_id, categories, bytes, headers, body, pieces)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const TOTAL = 'SELECT envelopes, bytes, last_id, accounted FROM spool_total'
const SET_TOTAL = 'UPDATE spool_total SET envelopes = ?, bytes = ?, last_id = ?, accounted = ?'
const ENTRY = 'id, kind, client, event_id, categories, bytes'
const LIST = `SELECT ${ENTRY} FROM spool WHERE destination = ? AND kind = ? AND id > ? ORDER BY id LIMIT ?`
// Skips from kind to kind by the index, no matter how many entries each has.
const KINDS = `
WITH RECURSIVE found (kind) AS (
  SELECT min(kind) FROM spool WHERE destination = :destination
  UNION ALL
  SELECT (SELECT min(kind) FROM spool WHERE destination = :destination AND kind > found.kind)
  FROM found WHERE found.kind IS NOT NULL
) SELECT kind FROM found WHERE kind IS NOT NULL`
const READ = 'SELECT headers, body, pieces FROM spool WHERE id = ?'
const REMOVE_PIECES = 'DELETE FROM report_pieces WHERE name = (SELECT pieces FROM spool WHERE id = ?)'
const NO_BODY = Buffer.alloc(0)
const DELETE = 'DELETE FROM spool WHERE id = ?'
const ROW = 'id, destination, kind, client, categories, bytes, received_at'
const OLDEST = `SELECT ${ROW} FROM spool ORDER BY id LIMIT ?`
const COUNT_LOSS = `
INSERT INTO spool_losses (destination, reason, category, quantity) VALUES (:destination, :reason, :category, :quantity)
ON CONFLICT (destination, reason, category) DO UPDATE SET quantity = quantity + :quantity`
const TAKE_BACK = `
UPDATE spool_losses SET quantity = max(0, quantity - :quantity)
WHERE destination = :destination AND reason = :reason AND category = :category`
const LOSSES = 'SELECT reason, category, quantity FROM spool_losses WHERE destination = ? AND quantity > 0'
const FORGET_LOSSES = 'DELETE FROM spool_losses WHERE destination = ?'

/** A spool that returns the ids of kept envelopes. */
export interface FileSpool extends LocalSpool {
  /**
   * As `accept`, and part of the transaction if there is one.
   * @returns the id of the entry; `undefined` without room. Evicted rows stay evicted unless the transaction is rolled
   * back, so that after a few tries there is room.
   * @param pieces names the body if all of it is written already.
   * @throws {SpoolFullError} if it cannot be written.
   */
  keep(envelope: AcceptedEnvelope, pieces?: string): number | undefined
  /**
   * Evicts about so many bytes, as it would at its bound for this envelope; nothing if they are not there.
   * @throws {SpoolFullError} as `keep`.
   */
  free(envelope: AcceptedEnvelope, bytes: number): void
  /** As `read`, with the name of the pieces in place of a large body. */
  find(id: number): (SpooledEnvelope & { readonly pieces: string | undefined }) | undefined
}

/** The rows of a spool, with the sums that must agree with them. Call all members but `readTotal` in a transaction. */
function createSpoolRows(database: Database, destination: string, room: SpoolRoom) {
  function count(losses: readonly Loss[], lostFor = destination): void {
    for (const loss of losses) database.statement(COUNT_LOSS).run({ destination: lostFor, ...loss })
  }

  /** The totals. In a transaction they are read once and written once, which costs less than for each envelope. */
  const total: TransactionPart<Total> = {
    begin: readTotal,
    finish: ({ envelopes, bytes, lastId, accounted }) =>
      void database.statement(SET_TOTAL).run(envelopes, bytes, lastId, accounted ? 1 : 0),
  }

  function readTotal(): Total {
    const row = database.statement(TOTAL).get()
    return {
      envelopes: Number(row?.['envelopes']),
      bytes: Number(row?.['bytes']),
      lastId: Number(row?.['last_id']),
      accounted: row?.['accounted'] === 1,
    }
  }

  /** @returns its id. */
  function insert(envelope: AcceptedEnvelope, pieces?: string): number {
    const { receivedAt, client, eventId = null, body, keep, categories, headers } = envelope
    const bytes = spooledSize(envelope)
    const sum = database.during(total)
    const id = sum.lastId + 1
    database
      .statement(INSERT)
      .run(
        id,
        destination,
        kindOf(categories),
        rankOf(keep),
        Math.trunc(receivedAt),
        client,
        eventId,
        JSON.stringify(categories),
        bytes,
        JSON.stringify(headers),
        pieces === undefined ? body : NO_BODY,
        pieces ?? null,
      )
    sum.envelopes += 1
    sum.bytes += bytes
    sum.lastId = id
    room.count(sum, client, 1, bytes)
    return id
  }

  /** @returns whether it existed. */
  function erase({ id, client, bytes }: Pick<SpooledEntry, 'id' | 'client' | 'bytes'>): boolean {
    if (bytes > PIECE_BYTES) database.statement(REMOVE_PIECES).run(id)
    if (database.statement(DELETE).run(id).changes === 0) return false
    const sum = database.during(total)
    sum.envelopes -= 1
    sum.bytes -= bytes
    room.count(sum, client, -1, -bytes)
    return true
  }

  /** @returns whether there is room now. @param bytes as for `SpoolRoom`. */
  function makeRoom(envelope: AcceptedEnvelope, bytes?: number): boolean {
    const evict: Parameters<SpoolRoom['make']>[2] = ({ id, client, amount, categories, destination: of }) => {
      erase({ id, client, bytes: amount })
      count(lossesOf(parseCategories(categories), 'queue_overflow'), of)
    }
    return room.make(database.during(total), envelope, evict, bytes)
  }

  function remove(row: Row, reason: LossReason): void {
    erase({ id: Number(row['id']), client: String(row['client']), bytes: Number(row['bytes']) })
    count(lossesOf(parseCategories(row['categories']), reason), String(row['destination']))
  }

  return { count, readTotal, insert, erase, makeRoom, remove }
}

/** A `Spool` in a file with `SPOOL_TABLES`; shared by all processes that have it open. */
export function createSpool(database: Database, { destination, bounds = BOUNDS }: SpoolOptions): FileSpool {
  const room = createSpoolRoom(database, bounds)
  const rows = createSpoolRows(database, destination, room)

  function write<Result>(work: () => Result): Result {
    try {
      return database.write(work)
    } catch (thrown) {
      throw new SpoolFullError('disk', thrown)
    }
  }

  function keep(envelope: AcceptedEnvelope, pieces?: string): number | undefined {
    return write(() => (rows.makeRoom(envelope) ? rows.insert(envelope, pieces) : undefined))
  }

  function find(id: number): ReturnType<FileSpool['find']> {
    const row = database.statement(READ).get(id)
    if (row === undefined) return undefined
    const body = row['body'] as Uint8Array
    const pieces = row['pieces']
    return {
      headers: JSON.parse(String(row['headers'])) as Record<string, string>,
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      pieces: typeof pieces === 'string' ? pieces : undefined,
    }
  }

  return {
    keep,
    find,
    free: (envelope, bytes) => void write(() => rows.makeRoom(envelope, bytes)),
    accept(envelope) {
      if (keep(envelope) === undefined) throw new SpoolFullError('bound')
    },

    size() {
      const { envelopes, bytes } = rows.readTotal()
      return { envelopes, bytes }
    },

    lastId: () => rows.readTotal().lastId,

    kinds: () =>
      database
        .statement(KINDS)
        .all({ destination })
        .map(({ kind }) => String(kind)),

    list: (kind, after, most) => database.statement(LIST).all(destination, kind, after, most).map(toEntry),

    read(id) {
      const found = find(id)
      if (found === undefined) return undefined
      const { headers, body, pieces } = found
      return { headers, body: pieces === undefined ? body : Buffer.concat([...piecesOf(database, pieces)]) }
    },

    settle(entry, lost) {
      database.write(() => {
        const isErased = rows.erase(entry)
        if (isErased === (lost === undefined)) return
        const losses = lossesOf(entry.categories, lost ?? 'queue_overflow')
        // Evicted while it was being delivered: nothing was lost after all.
        if (!isErased) for (const loss of losses) database.statement(TAKE_BACK).run({ destination, ...loss })
        else rows.count(losses)
      })
    },

    expire(now, reasonOf) {
      const isOld = (row: Row): boolean => Number(row['received_at']) <= now - bounds.ageMs
      database.write(room.tidy)
      if (!database.statement(OLDEST).all(1).some(isOld)) return 0
      return database.write(() => {
        const old = database.statement(OLDEST).all(EXPIRY_BATCH).filter(isOld)
        for (const row of old) rows.remove(row, reasonOf(String(row['kind'])))
        return old.length
      })
    },

    reportLosses(now) {
      if (database.statement(LOSSES).get(destination) === undefined) return undefined
      return database.write(() => {
        const losses = database.statement(LOSSES).all(destination) as unknown as readonly Loss[]
        database.statement(FORGET_LOSSES).run(destination)
        rows.insert(lossReport(losses, now))
        return Object.fromEntries(losses.map(({ reason, category, quantity }) => [`${reason} ${category}`, quantity]))
      })
    },
  }
}

function rankOf(keep: AcceptedEnvelope['keep']): number {
  return keep === 'error' ? 1 : 0
}

function toEntry(row: Row): SpooledEntry {
  const eventId = row['event_id']
  return {
    id: Number(row['id']),
    kind: String(row['kind']),
    client: String(row['client']),
    eventId: typeof eventId === 'string' ? eventId : undefined,
    categories: parseCategories(row['categories']),
    bytes: Number(row['bytes']),
  }
}

function parseCategories(json: unknown): Record<string, number> {
  return JSON.parse(String(json)) as Record<string, number>
}
