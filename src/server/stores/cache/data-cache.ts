/**
 * The server's own cache of data: what loaders, handlers and actions say that visitors may share, by `context.cached`.
 *
 * | kept value                               | is given out | and then                                               |
 * |------------------------------------------|--------------|--------------------------------------------------------|
 * | fresh: up to `seconds` old               | yes          |                                                        |
 * | stale: up to `staleSeconds` older        | yes          | made anew behind it, not before 5 s after it has failed |
 * | older, revalidated, or not there         | no           | made; all who ask meanwhile wait for the same           |
 *
 * Bounds of a process: 10,000 values and 32 MiB, the least recently used go first, those of a client that has made more
 * than a quarter of all before those of others, and then from the shared store, too; a value of more than 4 MiB is given out
 * and not kept. One making of a value lasts 30 s at most. With a shared store all instances share values; see
 * `shared-values.ts`.
 */
import type { Logger } from 'pino'
import { controlFlowOf } from '../../../shared/control-flow.ts'
import type { CachedOptions, CachedRead, CacheKey } from './cached-read.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RedisLink } from '../redis-link.ts'
import { valueState, type KeptValue } from './kept-value.ts'
import { createLruCache, type LruBounds } from './lru-cache.ts'
import { limitedRead } from './limited-read.ts'
import { currentReadScope, withReadScope, type ReadScope } from './read-scope.ts'
import { createRevalidations, type Revalidations } from './revalidations.ts'
import { createSharedValues, type SharedValues } from './shared-values.ts'
import { textToValue, valueToText } from './value-text.ts'

const BOUNDS: LruBounds = { entries: 10_000, bytes: 33_554_432 }
const MOST_VALUE_BYTES = 4_194_304
const ENTRY_BYTES = 300 // of a value's key, members and place, beside its text
const REFRESH_RETRY_MS = 5_000 // visitors are served meanwhile, and the source may be down because it is asked too often

/** On whose behalf a value is asked for. */
export interface CacheReader {
  /** Path of the page, still percent-encoded. */
  readonly pathname: string
  /** Of the client: values that it has made fill a quarter of a full cache at most. */
  readonly address?: string
  /** Told of the tags of what is given out. */
  used(tags: readonly string[]): void
  /** Told of what is thrown while a value is made that nobody waits for. */
  failed(thrown: unknown): void
}

/** What a value is asked for by. */
export interface CachedCall<Value> {
  readonly key: CacheKey
  readonly options: CachedOptions
  readonly read: CachedRead<Value>
}

/** Numbers of one process; those that count begin at its start. */
export interface DataCacheStats {
  /** Answered by a fresh value of this process. */
  readonly hits: number
  /** Answered by a stale one. */
  readonly stale: number
  /** Had to wait, for the shared store or for the value to be made. */
  readonly misses: number
  /** Values that came from the shared store. */
  readonly shared: number
  /** Values that were made. */
  readonly made: number
  /** Values that could not be made. */
  readonly failed: number
  readonly entries: number
  readonly bytes: number
}

/** The data cache of one process. */
export interface DataCache {
  /**
   * Gives a value out, made or kept; each time a copy of its own.
   * @throws {RangeError} for options that make no sense; {UncacheableValueError} for a value that cannot be kept; and
   *   what `read` throws, where no value may be given out.
   */
  read<Value>(call: CachedCall<Value>, reader: CacheReader): Promise<Value>
  /** Drops tags and paths, here at once and in all processes by the time it resolves, or as soon as they can be reached. */
  revalidate(targets: readonly string[]): Promise<void>
  /** Drops tags and paths in this process, because another one says so. */
  drop(targets: readonly string[]): void
  /** What has been dropped in this process. */
  readonly revalidations: Pick<Revalidations, 'now' | 'concern' | 'onSettle'>
  readonly stats: DataCacheStats
  /** Stops listening to others. */
  dispose(): void
}

/** What a data cache is made with. */
export interface DataCacheOptions {
  /** Values of other builds are not read. */
  readonly buildId: string
  /** Absent where this instance shares with nobody. */
  readonly redis: RedisLink | undefined
  readonly log: Logger
  /** Has other processes drop what this one revalidates. Does not reject. */
  readonly onRevalidate?: ((targets: readonly string[]) => Promise<void>) | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** For tests. */
  readonly bounds?: LruBounds
}

interface Entry extends KeptValue {
  readonly since: number
  settled?: number
  /** A moment before which it is not made anew, because that has failed. */
  retryAt: number
}

/** A value that is being fetched or made. */
interface Flight {
  readonly tags: readonly string[]
  readonly since: number
  readonly entry: Promise<Entry>
}

/** What is asked for, looked at and named. */
interface NamedCall extends Pick<KeptValue, 'tags' | 'freshMs' | 'staleMs'> {
  readonly name: string
  readonly read: CachedRead<unknown>
  readonly reader: CacheReader
}

/** Makes the cache of a process. */
export function createDataCache(options: DataCacheOptions): DataCache {
  const { redis, log, now, buildId, onRevalidate, bounds = BOUNDS } = options
  const revalidations = createRevalidations()
  // What one client has too much of is not left to the shared store either.
  const values = createLruCache<Entry>(bounds, (name) => shared?.remove(name))
  revalidations.onSettle((isDropped, settled) => {
    for (const [name, entry] of values.entries()) {
      if (isDropped(entry)) values.delete(name)
      else entry.settled = settled
    }
  })
  /** Bound: one entry a value that somebody waits for. */
  const flights = new Map<string, Flight>()
  const counts = { hits: 0, stale: 0, misses: 0, shared: 0, made: 0, failed: 0 }
  const drop = (targets: readonly string[]): void => {
    if (targets.length > 0) revalidations.add(targets)
  }
  const shared: SharedValues | undefined =
    redis &&
    createSharedValues({ link: redis, buildId, log, now, onTargets: drop, onMissed: () => revalidations.addAll() })

  function kept({ name, reader }: NamedCall): Entry | undefined {
    const entry = values.get(name)
    if (entry === undefined || revalidations.concern(entry, reader.pathname)) return undefined
    return entry
  }

  function keep(name: string, entry: Entry, { pathname, address = '' }: CacheReader): boolean {
    // One that was begun later may have been faster.
    if ((values.get(name)?.since ?? 0) > entry.since || revalidations.concern(entry, pathname)) return false
    const bytes = bytesOf(entry.text)
    if (bytes > MOST_VALUE_BYTES) {
      log.warn({ bytes, most: MOST_VALUE_BYTES }, 'a value is too large for the data cache')
      return false
    }
    return values.set(name, entry, bytes + bytesOf(name) + ENTRY_BYTES, clientKey(address))
  }

  /** @param anew whether a stale value of the shared store will not do. */
  function begin(call: NamedCall, anew: boolean): Flight {
    const { name, tags } = call
    const since = revalidations.now
    const entry = fetchOrMake(call, since, anew).finally(() => {
      if (flights.get(name) === flight) flights.delete(name)
    })
    const flight: Flight = { tags, since, entry }
    flights.set(name, flight)
    return flight
  }

  async function fetchOrMake(call: NamedCall, since: number, anew: boolean): Promise<Entry> {
    const { name, tags, reader } = call
    const found = shared === undefined ? undefined : await shared.find(name, tags, reader.pathname)
    if (found?.value !== undefined) {
      const state = valueState(found.value, now())
      if (state === 'fresh' || (state === 'stale' && !anew)) {
        const entry: Entry = { ...found.value, since, retryAt: 0 }
        keep(name, entry, reader)
        counts.shared += 1
        return entry
      }
    }
    const entry = await make(call, since)
    if (keep(name, entry, reader) && found !== undefined) shared?.put(name, entry, found.clock)
    return entry
  }

  async function make({ name, tags, freshMs, staleMs, read }: NamedCall, since: number): Promise<Entry> {
    const scope: ReadScope = { name, parent: currentReadScope(), tags: new Set(tags) }
    try {
      const value = await limitedRead(name, (args) => withReadScope(scope, () => read(args)))
      counts.made += 1
      return {
        text: valueToText(name, value),
        tags: [...scope.tags],
        madeAt: now(),
        freshMs,
        staleMs,
        since,
        retryAt: 0,
      }
    } catch (thrown) {
      counts.failed += 1
      throw thrown
    }
  }

  function refresh(call: NamedCall, stale: Entry): void {
    const { name, reader } = call
    const known = flights.get(name)
    if (now() < stale.retryAt || (known !== undefined && !revalidations.concern(known, reader.pathname))) return
    begin(call, true).entry.catch((thrown: unknown) => {
      // What says that there is nothing has not failed: the next who asks is told.
      if (controlFlowOf(thrown) !== undefined) {
        values.delete(name)
        shared?.remove(name)
        return
      }
      stale.retryAt = now() + REFRESH_RETRY_MS
      reader.failed(thrown)
    })
  }

  /** The value that somebody else already waits for, or a new one. */
  async function wait(call: NamedCall): Promise<Entry> {
    const known = flights.get(call.name)
    if (known === undefined || revalidations.concern(known, call.reader.pathname)) return begin(call, false).entry
    try {
      return await known.entry
    } catch (thrown) {
      // Its maker has used the signal of a request whose visitor has left; that is nothing to those who are still here.
      if (!(thrown instanceof Error) || thrown.name !== 'AbortError') throw thrown
      const next = flights.get(call.name)
      return (next === undefined ? begin(call, false) : next).entry
    }
  }

  async function entryFor(call: NamedCall): Promise<Entry> {
    const entry = kept(call)
    const state = entry === undefined ? 'expired' : valueState(entry, now())
    if (entry !== undefined && state !== 'expired') {
      counts[state === 'fresh' ? 'hits' : 'stale'] += 1
      if (state === 'stale') refresh(call, entry)
      return entry
    }
    counts.misses += 1
    const waited = await wait(call)
    // From the shared store, where another instance has put it.
    if (valueState(waited, now()) === 'stale') refresh(call, waited)
    return waited
  }

  return {
    async read<Value>({ key, options: given, read }: CachedCall<Value>, reader: CacheReader): Promise<Value> {
      const name = JSON.stringify(key)
      const scope = currentReadScope()
      refuseCycle(name, scope)
      const { text, tags } = await entryFor({ name, ...checked(name, given), read, reader })
      for (const tag of tags) scope?.tags.add(tag)
      reader.used(tags)
      return textToValue(text) as Value
    },
    async revalidate(targets) {
      if (targets.length === 0) return
      drop(targets)
      await Promise.all([onRevalidate?.(targets), shared?.revalidate(targets)])
    },
    drop,
    revalidations,
    get stats() {
      return { ...counts, entries: values.size, bytes: values.bytes }
    },
    dispose: () => shared?.dispose(),
  }
}

function checked(
  name: string,
  { seconds, staleSeconds = 0, tags = [] }: CachedOptions,
): Pick<KeptValue, 'tags' | 'freshMs' | 'staleMs'> {
  const refuse = (what: string): never => {
    throw new RangeError(`cached(${name}): ${what}`)
  }
  if (!(seconds > 0 && Number.isFinite(seconds))) refuse(`seconds: ${seconds} is no number above 0`)
  if (!(staleSeconds >= 0 && Number.isFinite(staleSeconds)))
    refuse(`staleSeconds: ${staleSeconds} is no number, 0 or more`)
  const path = tags.find((tag) => tag.startsWith('/'))
  if (path !== undefined)
    refuse(`the tag ${JSON.stringify(path)} begins with a slash; revalidate() takes it for a path`)
  return { tags, freshMs: seconds * 1_000, staleMs: staleSeconds * 1_000 }
}

/** A value that waits for itself would wait for ever. */
function refuseCycle(name: string, scope: ReadScope | undefined): void {
  for (let outer = scope; outer !== undefined; outer = outer.parent) {
    if (outer.name === name) throw new Error(`cached(${name}) was called inside of itself`)
  }
}

/** What a text takes in memory: one byte a character up to U+00FF, else two. */
function bytesOf(text: string): number {
  return /^[\x00-\xff]*$/.test(text) ? text.length : text.length * 2
}
