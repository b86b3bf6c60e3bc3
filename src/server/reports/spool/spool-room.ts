import type { Database, TransactionPart } from '../../stores/open-database.ts'
import { LOSS_SENDER } from './outcomes.ts'
import { holdsMost, isMost, planEviction, type EvictionSource } from '../plan-eviction.ts'
import { type AcceptedEnvelope } from '../intake/accepted-envelope.ts'
import { spooledSize } from './spool.ts'

const EVICTION_BATCH = 64 // rows read together
const MOST_EVICTED = 2_048 // per call: some 40 ms
/**
 * Bytes above which accounts of clients are kept: opening them reads the whole spool, some 10 ms. Below, reports are
 * delivered on arrival, and an account with its index would make each a tenth more expensive.
 */
const OPENED_AT = 8_388_608
const CLOSED_BELOW = 4 // times less

/** Limits of a spool. */
export interface SpoolBounds {
  readonly bytes: number
  /** For one client; default: as for all. */
  readonly clientBytes?: number
  /** Milliseconds. */
  readonly ageMs: number
}

/** A row to evict. */
interface EvictedRow {
  readonly amount: number
  readonly id: number
  readonly client: string
  readonly destination: string
  /** JSON. */
  readonly categories: string
}

/** Content of the spool, as far as room is concerned. */
export interface Waiting {
  readonly bytes: number
  /** Whether accounts of clients exist. */
  accounted: boolean
}

/** The amounts of each client in a spool, and the order of eviction. Call everything within a transaction. */
export interface SpoolRoom {
  /** Counts additions or, below 0, removals; call it after the change of `waiting`. */
  count(waiting: Waiting, client: string, envelopes: number, bytes: number): void
  /**
   * Makes room if there is none.
   * @param evict removes a row, and counts it.
   * @param least bytes to evict, for a reason that is not in the bounds. Default: none.
   * @returns whether there is room now. If too many rows would have to go at once, some of them are still evicted.
   */
  make(waiting: Waiting, envelope: AcceptedEnvelope, evict: (row: EvictedRow) => void, least?: number): boolean
  /** Deletes accounts of clients that have nothing left. */
  tidy(): void
}

interface Change {
  envelopes: number
  bytes: number
}

const CHANGE = `
INSERT INTO spool_clients VALUES (?, ?, ?)
ON CONFLICT (client) DO UPDATE SET envelopes = envelopes + excluded.envelopes, bytes = bytes + excluded.bytes`
const OPEN = [
  'DELETE FROM spool_clients',
  'CREATE INDEX IF NOT EXISTS spool_client ON spool (client, keep)',
  'INSERT INTO spool_clients SELECT client, count(*), sum(bytes) FROM spool GROUP BY client',
] as const
const CLOSE = ['DELETE FROM spool_clients', 'DROP INDEX IF EXISTS spool_client'] as const
const TIDY = 'DELETE FROM spool_clients WHERE envelopes <= 0'
const HELD = 'SELECT bytes FROM spool_clients WHERE client = ?'
const GREEDIEST = `
SELECT client, bytes AS amount FROM spool_clients
WHERE bytes > 0 AND client <> '${LOSS_SENDER}' ORDER BY bytes DESC LIMIT ?`
const OLDEST_OF = `
SELECT id, client, destination, categories, bytes AS amount FROM spool
WHERE client = ? AND keep = ? AND id > ? ORDER BY id LIMIT ?`

/** The room of a spool in a file with `SPOOL_TABLES`. */
export function createSpoolRoom(database: Database, bounds: SpoolBounds): SpoolRoom {
  const { clientBytes = bounds.bytes } = bounds
  const tightest = Math.min(bounds.bytes, clientBytes)
  const openedAt = Math.min(OPENED_AT, tightest / CLOSED_BELOW)

  /** Written once per transaction: several envelopes of one client are one change. */
  const changes: TransactionPart<Map<string, Change>> = { begin: () => new Map(), finish: write }

  function write(changed: Map<string, Change>): void {
    for (const [client, { envelopes, bytes }] of changed) {
      if (envelopes !== 0 || bytes !== 0) database.statement(CHANGE).run(client, envelopes, bytes)
    }
    changed.clear()
  }

  function heldBy(client: string): number {
    write(database.during(changes))
    return Number(database.statement(HELD).get(client)?.['bytes'] ?? 0)
  }

  function* rowsOf(client: string, keep: 0 | 1): Generator<EvictedRow, void> {
    for (let last = 0; ;) {
      const rows = database.statement(OLDEST_OF).all(client, keep, last, EVICTION_BATCH)
      yield* rows as unknown as readonly EvictedRow[]
      if (rows.length < EVICTION_BATCH) return
      last = Number(rows.at(-1)?.['id'])
    }
  }

  /** Errors are evicted only for errors, and only if their client has nothing else. */
  function sourceFor(keep: AcceptedEnvelope['keep']): EvictionSource<EvictedRow> {
    return {
      greediest(most) {
        write(database.during(changes))
        return database.statement(GREEDIEST).all(most) as unknown as ReturnType<EvictionSource<EvictedRow>['greediest']>
      },
      heldBy,
      *rowsOf(client) {
        yield* rowsOf(client, 0)
        if (keep === 'error') yield* rowsOf(client, 1)
      },
    }
  }

  return {
    count(waiting, client, envelopes, bytes) {
      if (!waiting.accounted) return
      const changed = database.during(changes)
      if (waiting.bytes < openedAt / CLOSED_BELOW) {
        changed.clear()
        for (const sql of CLOSE) database.statement(sql).run()
        waiting.accounted = false
        return
      }
      const change = changed.get(client) ?? { envelopes: 0, bytes: 0 }
      change.envelopes += envelopes
      change.bytes += bytes
      changed.set(client, change)
    },
    make(waiting, envelope, evict, least = 0) {
      const { client, keep } = envelope
      const size = spooledSize(envelope)
      const total = waiting.bytes + size
      if (!waiting.accounted) {
        if (total <= openedAt && (least === 0 || !isMost(total, least))) return true
        for (const sql of OPEN) database.statement(sql).run()
        waiting.accounted = true
      }
      // One client has no more than all together.
      if (total <= tightest && (least === 0 || !holdsMost(sourceFor(keep), least))) return true
      const need = Math.max(least, total - heldBy(LOSS_SENDER) - bounds.bytes)
      const ownNeed = heldBy(client) + size - clientBytes
      const room = { sender: client, size, need, ownNeed, mostRows: MOST_EVICTED }
      const { rows, outcome } = planEviction(room, sourceFor(keep))
      for (const row of rows) evict(row)
      return outcome === 'enough'
    },
    tidy: () => void database.statement(TIDY).run(),
  }
}
