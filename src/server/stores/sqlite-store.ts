import type { SQLInputValue } from 'node:sqlite'
import { countGreediest, cutGreediest, type HeldByClient } from './fair-level.ts'
import { createGroupedWrites, type GroupedWrites } from './grouped-writes.ts'
import type { Database } from './open-database.ts'
import { ALLOWED, rateCells, refusal, toMicros } from './rate-cells.ts'
import {
  CLIENT_SHARE,
  EPOCH_LIFETIME_MS,
  MOST_EPOCHS,
  type Advance,
  type PutOptions,
  type PutResult,
  type Store,
  type StoredEntry,
  type StoreEntry,
  type StoreKind,
} from './store.ts'
import { storeStatements, type StoreStatements } from './store-tables.ts'

const SWEEP_EVERY = 256 // writes
const COUNT_SHARE = 16 // of a bound: how far above it the entries may be, because counting them all takes milliseconds

/**
 * A `Store` in an SQLite file that has `storeTables`, shared by all processes that have it open. Changes wait for a
 * common transaction, except for limits, whose single statement is one.
 */
export function createSqliteStore(database: Database, kind: StoreKind): Store {
  return new SqliteStore(database, kind)
}

type Measure = 'entries' | 'bytes'
type Totals = Readonly<Record<Measure | 'clients', number>>

class SqliteStore implements Store {
  readonly #database: Database
  readonly #kind: StoreKind
  readonly #sql: StoreStatements
  readonly #writes: GroupedWrites
  #written = 0
  /** Since all were counted. */
  #added = { entries: 0, bytes: 0 }

  constructor(database: Database, kind: StoreKind) {
    this.#database = database
    this.#kind = kind
    this.#sql = storeStatements(kind.name)
    this.#writes = createGroupedWrites(database)
  }

  async get(key: string, now: number): Promise<StoredEntry | undefined> {
    return this.#read(key, now)
  }

  put(entry: StoreEntry, now: number, options: PutOptions = {}): Promise<PutResult> {
    return this.#writes.write(() => this.#put(entry, now, options))
  }

  remove(key: string, group: string): Promise<boolean> {
    return this.#writes.write(() => this.#run(this.#sql.remove, key, group) > 0)
  }

  async list(group: string, now: number): Promise<readonly StoredEntry[]> {
    return this.#database.statement(this.#sql.list).all(group, toMicros(now)).map(toEntry)
  }

  advance(group: string, now: number, except = ''): Promise<Advance> {
    return this.#writes.write(() => {
      const sql = this.#sql
      this.#run(sql.removeExpired, toMicros(now))
      const epoch = Number(this.#database.statement(sql.advance).get({ group, now: Math.trunc(now) })?.['epoch'])
      const ended = this.#run(sql.removeOfGroup, { group, except })
      this.#run(sql.adopt, { key: except, group, epoch })
      this.#run(sql.removeEpochs, Math.trunc(now) - EPOCH_LIFETIME_MS)
      this.#run(sql.removeBeyondEpochs, MOST_EPOCHS)
      return { ended, epoch }
    })
  }

  async take(...[key, limit, nowMs, client]: Parameters<Store['take']>): ReturnType<Store['take']> {
    const cells = rateCells(limit)
    const now = toMicros(nowMs)
    if (this.#run(this.#sql.take, { key, client, now, ...cells }) > 0) {
      this.#tidy(now, 0)
      return ALLOWED
    }
    const latest = now + cells.window
    const fullAt = this.#database.statement(this.#sql.get).get(key, now)?.['expiresMicros'] ?? latest
    if (Number(fullAt) > latest) this.#run(this.#sql.bringBack, { key, latest })
    return refusal(Number(fullAt), now, cells)
  }

  #put(entry: StoreEntry, now: number, { ifAbsent, ifVersion, mostOfGroup, ...given }: PutOptions): PutResult {
    const { key, value, group, client, expiresAt } = entry
    if (ifVersion !== undefined) {
      const found = this.#read(key, now)
      if (found?.version !== ifVersion) return { found }
    }
    const current = group === '' ? 0 : Number(this.#database.statement(this.#sql.epoch).get(group)?.['epoch'] ?? 0)
    const { epoch = current } = given
    if (epoch < current) return {}
    const bytes = Buffer.byteLength(value)
    const row = { key, value, group, client, expiresMicros: toMicros(expiresAt), epoch, bytes }
    const put = ifAbsent
      ? this.#database.statement(this.#sql.putAbsent).get({ ...row, now: toMicros(now) })
      : this.#database.statement(this.#sql.put).get(row)
    if (put === undefined) return { found: this.#read(key, now) }
    const version = Number(put['version'])
    if (mostOfGroup !== undefined) this.#run(this.#sql.removeBeyondGroup, { group, key, kept: mostOfGroup - 1 })
    this.#tidy(toMicros(now), bytes)
    return { kept: { ...entry, version, epoch } }
  }

  #read(key: string, now: number): StoredEntry | undefined {
    const row = this.#database.statement(this.#sql.get).get(key, toMicros(now))
    return row && toEntry(row)
  }

  /** @returns how many rows it has changed. */
  #run(sql: string, ...values: readonly SQLInputValue[] | readonly [Readonly<Record<string, SQLInputValue>>]): number {
    return Number(this.#database.statement(sql).run(...(values as readonly SQLInputValue[])).changes)
  }

  /** After each write. @param bytes that it has added. */
  #tidy(now: number, bytes: number): void {
    const { entries: mostEntries, bytes: mostBytes } = this.#kind
    this.#written += 1
    if (this.#written % Math.min(SWEEP_EVERY, Math.ceil(mostEntries / COUNT_SHARE)) === 0) {
      this.#run(this.#sql.removeExpired, now)
    }
    this.#added.entries += 1
    this.#added.bytes += bytes
    if (this.#added.entries * COUNT_SHARE < mostEntries && this.#added.bytes * COUNT_SHARE < mostBytes) return
    this.#added = { entries: 0, bytes: 0 }
    const { clients, ...totals } = this.#database.statement(this.#sql.totals).get() as unknown as Totals
    for (const measure of ['entries', 'bytes'] as const) this.#makeRoom(measure, totals[measure], clients)
  }

  /** Cuts the clients that have too much, as far as necessary. */
  #makeRoom(measure: Measure, total: number, clients: number): void {
    const most = this.#kind[measure]
    const share = Math.floor(most * CLIENT_SHARE)
    if (total <= share) return
    const asked = total > most ? countGreediest({ total, most, clients }) : 1
    const above = total > most ? Math.min(share, Math.floor(most / clients)) : share
    const rows = this.#database.statement(this.#sql.greediest[measure]).all(above, asked)
    const greediest = rows as unknown as readonly HeldByClient[]
    const cut = (client: string, level: number): void => {
      this.#run(this.#sql.removeBeyond[measure], client, level)
    }
    // At most one client has more than half of what all may have, unless all together have too much.
    for (const { client, amount } of greediest) if (amount > share) cut(client, share)
    const held = greediest.map(({ client, amount }) => ({ client, amount: Math.min(amount, share) }))
    const left = total - greediest.reduce((sum, { amount }) => sum + Math.max(0, amount - share), 0)
    if (left > most) cutGreediest({ total: left, most }, held, cut)
  }
}

function toEntry(row: Record<string, unknown>): StoredEntry {
  const { expiresMicros, ...rest } = row as Omit<StoredEntry, 'expiresAt'> & { readonly expiresMicros: number }
  return { ...rest, expiresAt: expiresMicros / 1_000 }
}
