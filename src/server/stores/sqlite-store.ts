import type { SQLInputValue } from 'node:sqlite'
import { countGreediest, cutGreediest, type HeldByClient } from './fair-level.ts'
import { levelOf, sharedPlace, type LimitPlace } from './crowded-keys.ts'
import { createGroupedWrites, type GroupedWrites } from './grouped-writes.ts'
import type { Database } from './open-database.ts'
import { isLocked } from './opening-fault.ts'
import { ALLOWED, rateCells, refusal, toMicros, type RateCells } from './rate-cells.ts'
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
const MOST_CROWDED = 1_000 // clients
const CROWDED_MICROS = 1_000_000 // counting the keys of a client takes a millisecond
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
  /** Since all were counted. Limits are counted at the first write of a process. */
  #added: Record<Measure, number>
  /** Of limits: clients that had no room for more when they were counted, and how much they may have. */
  #crowded = new Map<string, { readonly level: number; countedAt: number }>()

  constructor(database: Database, kind: StoreKind) {
    this.#database = database
    this.#kind = kind
    this.#sql = storeStatements(kind.name)
    this.#writes = createGroupedWrites(database)
    this.#added = { entries: kind.name === 'limits' ? kind.entries : 0, bytes: 0 }
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

  async take(...given: Parameters<Store['take']>): ReturnType<Store['take']> {
    if (this.#writes.isLocked) return this.#writes.write(() => this.#take(...given))
    try {
      return this.#take(...given)
    } catch (thrown) {
      // Tried again together with all others that wait for the lock.
      if (!isLocked(thrown)) throw thrown
      return this.#writes.write(() => this.#take(...given))
    }
  }

  #take(...[key, limit, nowMs, client]: Parameters<Store['take']>): Awaited<ReturnType<Store['take']>> {
    const cells = rateCells(limit)
    const now = toMicros(nowMs)
    const place = this.#placeOf({ key, client }, cells, now)
    if (this.#run(this.#sql.take, { ...place, now, ...cells }) > 0) {
      this.#tidy(now, 0)
      return ALLOWED
    }
    const latest = now + cells.window
    const fullAt = this.#database.statement(this.#sql.get).get(place.key, now)?.['expiresMicros'] ?? latest
    if (Number(fullAt) > latest) this.#run(this.#sql.bringBack, { key: place.key, latest })
    return refusal(Number(fullAt), now, cells)
  }

  #placeOf(own: LimitPlace, cells: RateCells, now: number): LimitPlace {
    const { key, client } = own
    const crowd = this.#crowded.get(client)
    if (crowd === undefined || this.#database.statement(this.#sql.get).get(key, now) !== undefined) return own
    if (Math.abs(now - crowd.countedAt) >= CROWDED_MICROS) {
      crowd.countedAt = now
      const held = this.#database.statement(this.#sql.held).get(client, now)?.['entries']
      if (Number(held) < crowd.level) {
        this.#crowded.delete(client)
        return own
      }
    }
    return sharedPlace(key, client, cells, crowd.level)
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
    if (this.#kind.name === 'limits') return this.#makeRoomForLimits(totals.entries, clients, now)
    for (const measure of ['entries', 'bytes'] as const) this.#makeRoom(measure, totals[measure], clients)
  }

  /** A client whose keys are forgotten is free of their limits: that happens only where all together have too many. */
  #makeRoomForLimits(total: number, clients: number, now: number): void {
    const most = this.#kind.entries
    const level = levelOf(total, most, clients)
    const rows =
      total < level ? [] : this.#database.statement(this.#sql.greediest.entries).all(Math.ceil(level) - 1, MOST_CROWDED)
    const greediest = rows as unknown as readonly HeldByClient[]
    this.#crowded = new Map(greediest.map(({ client }) => [client, { level, countedAt: now }]))
    if (total > most) {
      cutGreediest({ total, most }, greediest, (client, kept) =>
        this.#run(this.#sql.removeBeyond.entries, client, kept),
      )
    }
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
