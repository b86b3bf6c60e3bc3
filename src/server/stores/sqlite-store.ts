import type { SQLInputValue } from 'node:sqlite'
import { levelOf, sharedPlace, type LimitPlace } from './crowded-keys.ts'
import { createGroupedWrites, type GroupedWrites } from './grouped-writes.ts'
import type { Database, TransactionPart } from './open-database.ts'
import { LargestClients, MOST_READ } from './largest-clients.ts'
import { isLocked } from './opening-fault.ts'
import { ALLOWED, CLOCK_TOLERANCE_MICROS, rateCells, refusal, toMicros, type RateCells } from './rate-cells.ts'
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

// A removed row takes some 50 microseconds, and all of one transaction are removed in one turn of the event loop.
const SWEPT_AT_ONCE = 16 // expired entries, where a write adds one
const SWEPT_TOGETHER = 64 // by all writes of a transaction: no fewer than it may add
const DROPPED_AT_ONCE = 2 // entries for want of room, where a write adds one
/** About a megabyte, which there is room for on any disk. */
const LEAST = { entries: 2_048, bytes: 1_048_576 }
const DROPPED_IN_A_PIECE = 32 // in a transaction for itself, where a large value needs the room of many
const COUNT_EPOCHS_EVERY = 64 // advances: to count them takes milliseconds

/**
 * A `Store` in an SQLite file that has `storeTables`, with `storeAccounts`, shared by all processes that have it open.
 * Changes wait for a common transaction, except for limits. A transaction removes some more entries than it adds, and not
 * all that expire at once. A value that needs the room of many entries is kept, and its client waits until they are removed.
 * @param mayGrow whether the disk has room for more entries. Otherwise, their number stays what it is, and their bytes do if the kind
 * keeps values.
 */
export function createSqliteStore(database: Database, kind: StoreKind, mayGrow: () => boolean = () => true): Store {
  return new SqliteStore(database, kind, mayGrow)
}

type Measure = 'entries' | 'bytes'
type Totals = Readonly<Record<Measure | 'clients', number>>

/** More of something than there may be. */
interface Excess {
  readonly measure: Measure
  /** The one with most; `undefined` if each has one entry. */
  readonly client: string | undefined
  /** Whether all have too much together, and not only the client. */
  readonly isOfAll: boolean
}

interface TakenAt {
  readonly place: LimitPlace
  /** Whether it had a point left. */
  readonly isTaken: boolean
}

class SqliteStore implements Store {
  readonly #database: Database
  readonly #kind: StoreKind
  readonly #mayGrow: () => boolean
  /** What there was when the disk had no room for more. */
  #frozen: Totals | undefined
  readonly #sql: StoreStatements
  readonly #writes: GroupedWrites
  #advances = 0
  /** By client: run while there is too much for one write to remove. */
  readonly #makings = new Map<string, Promise<void>>()
  readonly #largest: Readonly<Record<Measure, LargestClients>>
  /** How many expired entries the running transaction may still remove. */
  readonly #sweep: TransactionPart<{ left: number }> = {
    begin: () => ({ left: SWEPT_TOGETHER }),
    finish: () => undefined,
  }

  constructor(database: Database, kind: StoreKind, mayGrow: () => boolean) {
    this.#database = database
    this.#kind = kind
    this.#mayGrow = mayGrow
    this.#sql = storeStatements(kind.name)
    this.#writes = createGroupedWrites(database)
    const largest = (measure: Measure): LargestClients =>
      new LargestClients(() => database.statement(this.#sql.greediest[measure]).all(MOST_READ) as never)
    this.#largest = { entries: largest('entries'), bytes: largest('bytes') }
  }

  async get(key: string, now: number): Promise<StoredEntry | undefined> {
    return this.#read(key, now)
  }

  async put(entry: StoreEntry, now: number, options: PutOptions = {}): Promise<PutResult> {
    let excess: Excess | undefined
    const result = await this.#writes.write(() => {
      const put = this.#put(entry, now, options)
      excess = put.kept && this.#makeRoom(toMicros(now), DROPPED_AT_ONCE, entry)
      return put
    })
    if (excess === undefined) return result
    const { client } = entry
    const making = this.#makings.get(client) ?? this.#makeAllRoom(toMicros(now), client)
    this.#makings.set(client, making)
    // A client that adds faster than rows can be removed waits for it. Others do not.
    if (excess.client === client) await making
    return result
  }

  remove(key: string, group: string, ifVersion?: number): Promise<boolean> {
    const { remove, removeVersion } = this.#sql
    return this.#writes.write(
      () =>
        (ifVersion === undefined ? this.#run(remove, key, group) : this.#run(removeVersion, key, group, ifVersion)) > 0,
    )
  }

  async list(group: string, now: number): Promise<readonly StoredEntry[]> {
    return this.#database.statement(this.#sql.list).all(group, toMicros(now)).map(toEntry)
  }

  advance(group: string, now: number, except = ''): Promise<Advance> {
    return this.#writes.write(() => {
      const sql = this.#sql
      this.#run(sql.removeExpiredOfGroup, group, toMicros(now))
      const epoch = Number(this.#database.statement(sql.advance).get({ group, now: Math.trunc(now) })?.['epoch'])
      const ended = this.#run(sql.removeOfGroup, { group, except })
      this.#run(sql.adopt, { key: except, group, epoch })
      this.#removeEpochs(Math.trunc(now))
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
    // The usual call has a known key, and a point left.
    if (this.#run(this.#sql.takeKnown, { key, now, ...cells }) > 0) return ALLOWED
    const own = { key, client }
    const { isTaken, place } =
      this.#find(key, now) === undefined
        ? this.#database.write(() => this.#takeNew(own, cells, now))
        : this.#takeAt(own, cells, now)
    if (isTaken) return ALLOWED
    const latest = now + cells.window
    const fullAt = this.#find(place.key, now)?.['expiresMicros'] ?? latest
    if (Number(fullAt) > latest + CLOCK_TOLERANCE_MICROS) this.#run(this.#sql.bringBack, { key: place.key, latest })
    return refusal(Number(fullAt), now, cells)
  }

  #takeAt(place: LimitPlace, cells: RateCells, now: number): TakenAt {
    return { isTaken: this.#run(this.#sql.take, { ...place, now, ...cells }) > 0, place }
  }

  #takeNew(own: LimitPlace, cells: RateCells, now: number): TakenAt {
    this.#sweepExpired(now)
    const taken = this.#takeAt(this.#placeOf(own, cells, now), cells, now)
    if (taken.isTaken) this.#makeRoom(now, DROPPED_AT_ONCE, taken.place)
    return taken
  }

  /** Where a new key of a limit is counted. */
  #placeOf({ key, client }: LimitPlace, cells: RateCells, now: number): LimitPlace {
    const { entries, clients } = this.#totals()
    const level = levelOf(entries, this.#most('entries'), clients)
    if (this.#heldBy(client).entries < level) return { key, client }
    const swept = this.#run(this.#sql.removeExpiredOfClient, client, now, SWEPT_AT_ONCE)
    return swept > 0 && this.#heldBy(client).entries < level ? { key, client } : sharedPlace(key, client, cells, level)
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
    this.#sweepExpired(toMicros(now))
    const put = ifAbsent
      ? this.#database.statement(this.#sql.putAbsent).get({ ...row, now: toMicros(now) })
      : this.#database.statement(this.#sql.put).get(row)
    if (put === undefined) return { found: this.#read(key, now) }
    const version = Number(put['version'])
    if (mostOfGroup !== undefined) this.#run(this.#sql.removeBeyondGroup, { group, key, kept: mostOfGroup - 1 })
    return { kept: { ...entry, version, epoch } }
  }

  #read(key: string, now: number): StoredEntry | undefined {
    const row = this.#find(key, toMicros(now))
    return row && toEntry(row)
  }

  #find(key: string, now: number): Record<string, unknown> | undefined {
    return this.#database.statement(this.#sql.get).get(key, now)
  }

  #totals(): Totals {
    return this.#database.statement(this.#sql.totals).get() as unknown as Totals
  }

  #heldBy(client: string): Readonly<Record<Measure, number>> {
    return (this.#database.statement(this.#sql.held).get(client) as never) ?? { entries: 0, bytes: 0 }
  }

  /** @returns how many rows it has changed. */
  #run(sql: string, ...values: readonly SQLInputValue[] | readonly [Readonly<Record<string, SQLInputValue>>]): number {
    return Number(this.#database.statement(sql).run(...(values as readonly SQLInputValue[])).changes)
  }

  /** Removes some expired entries. While there are any, a write removes at least as many as it adds. */
  #sweepExpired(now: number): void {
    const sweep = this.#database.during(this.#sweep)
    if (sweep.left === 0 || this.#database.statement(this.#sql.isExpired).get(now) === undefined) return
    sweep.left -= this.#run(this.#sql.removeExpired, now, Math.min(sweep.left, SWEPT_AT_ONCE))
  }

  /** Removes epochs that are too old, and those beyond the bound, a few at a time. */
  #removeEpochs(nowMs: number): void {
    this.#run(this.#sql.removeEpochs, nowMs - EPOCH_LIFETIME_MS, SWEPT_AT_ONCE)
    this.#advances += 1
    if (this.#advances % COUNT_EPOCHS_EVERY !== 1) return
    const excess = Number(this.#database.statement(this.#sql.epochs).get()?.['epochs']) - MOST_EPOCHS
    if (excess > 0) this.#run(this.#sql.removeEpochs, Number.MAX_SAFE_INTEGER, Math.min(excess, 2 * COUNT_EPOCHS_EVERY))
  }

  /**
   * Takes the room that is missing: from the client that adds, if it has more than its share, otherwise from those that
   * have most.
   * @param most how many entries it removes of each measure.
   * @param added the client, and the key of an entry that stays.
   * @returns what is left to remove.
   */
  #makeRoom(now: number, most: number, { client, key = '' }: { client: string; key?: string }): Excess | undefined {
    for (const measure of ['entries', 'bytes'] as const) {
      for (let removed = 0; ;) {
        const excess = this.#excessOf(measure, client)
        if (excess === undefined) break
        if (removed === most) return excess
        if (excess.isOfAll && this.#run(this.#sql.removeExpired, now, 1) > 0) removed += 1
        else if (this.#drop(excess, key)) removed += 1
        // Of those that were read as the largest, one may have nothing left.
        else if (excess.client === undefined || excess.client === client) break
      }
    }
    return undefined
  }

  async #makeAllRoom(now: number, client: string): Promise<void> {
    try {
      while (await this.#writes.write(() => this.#makeRoom(now, DROPPED_IN_A_PIECE, { client })));
    } catch {
      // What was put is kept all the same. The next write continues.
    } finally {
      this.#makings.delete(client)
    }
  }

  /**
   * A client whose limits are forgotten is free of them: that happens only where all together have too many, and
   * `#placeOf` sees to it that no client has more than its share.
   */
  #excessOf(measure: Measure, client: string): Excess | undefined {
    const most = this.#most(measure)
    const total = this.#totals()[measure]
    const share = this.#kind.name === 'limits' ? most : Math.floor(most * CLIENT_SHARE)
    if (total <= share) return undefined
    const isOfAll = total > most
    if (this.#heldBy(client)[measure] > share) return { measure, client, isOfAll }
    if (!isOfAll) return undefined
    const largest = this.#largest[measure].first()
    const isForDisk = this.#kind.keepsValues === true && total <= this.#kind[measure]
    // Nobody loses the only one for want of disk: some of it is kept for that.
    if (isForDisk && (largest === undefined || this.#heldBy(largest).entries < 2)) return undefined
    return { measure, client: largest, isOfAll }
  }

  #most(measure: Measure): number {
    const most = this.#kind[measure]
    if (measure === 'bytes' && this.#kind.keepsValues !== true) return most
    if (this.#mayGrow()) this.#frozen = undefined
    // One has just been added, or is about to be.
    else this.#frozen ??= this.#totals()
    return Math.min(most, Math.max(this.#frozen?.[measure] ?? most, LEAST[measure]))
  }

  /** @returns whether there was an entry to remove. */
  #drop({ measure, client }: Excess, except: string): boolean {
    const { removeFirst, removeFirstOfAll } = this.#sql
    const row =
      client === undefined
        ? this.#database.statement(removeFirstOfAll).get(except)
        : this.#database.statement(removeFirst[measure]).get(client, except)
    const amount = measure === 'entries' ? 1 : Number(row?.['bytes'])
    this.#largest[measure].note(client, row === undefined ? Infinity : amount)
    return row !== undefined
  }
}

function toEntry(row: Record<string, unknown>): StoredEntry {
  const { expiresMicros, ...rest } = row as Omit<StoredEntry, 'expiresAt'> & { readonly expiresMicros: number }
  return { ...rest, expiresAt: expiresMicros / 1_000 }
}
