/**
 * The server's cache of data that all visitors may share: `context.cached` in loaders, handlers and actions.
 *
 * | state of the value                       | answer                                                            |
 * |------------------------------------------|-------------------------------------------------------------------|
 * | fresh: up to `seconds` old               | the value                                                         |
 * | stale: up to `staleSeconds` older        | the value; made again in the background, 5 s after a failed attempt at the earliest |
 * |                                          | what is made of it and kept is fresh for a second at most         |
 * | older, revalidated, or missing           | waits until it is made; concurrent callers share one attempt      |
 *
 * Bounds per process: 10,000 values and 32 MiB. The least recently used go first; a client that requested more than a
 * quarter of all loses its own first, and those that were made for it leave the shared store too. A value of more than
 * 4 MiB is returned but not kept. Making a value takes 30 s at most. With a shared store all instances share values; see
 * `shared-values.ts`.
 */
import type { Logger } from 'pino'
import type { RedisLink } from '../redis-link.ts'
import { shownKey, type CachedOptions, type CachedRead, type CacheKey, type CacheReader } from './cached-read.ts'
import { valueState, type KeptValue } from './kept-value.ts'
import { DropTimes } from './drop-times.ts'
import type { LruBounds } from './lru-cache.ts'
import { MemoryValues } from './memory-values.ts'
import { currentReadScope, noteUse, type ReadScope } from './read-scope.ts'
import { createRevalidations, type Revalidations } from './revalidations.ts'
import type { SharedDrop } from './shared-revalidations.ts'
import { createSharedValues } from './shared-values.ts'
import { namedTargets, targetsOfData } from './revalidation-targets.ts'
import { ValueSource, type NamedCall } from './value-source.ts'
import { textToValue } from './value-text.ts'

/** One call of `cached`. */
interface CachedCall<Value> {
  readonly key: CacheKey
  readonly options: CachedOptions
  readonly read: CachedRead<Value>
}

/** Numbers of one process; counters start at 0 with it. */
export interface DataCacheStats {
  /** Answered with a fresh value from memory. */
  readonly hits: number
  /** Answered with a stale one. */
  readonly stale: number
  /** Waited for the shared store, or for the value to be made. */
  readonly misses: number
  /** Values from the shared store. */
  readonly shared: number
  /** Values made. */
  readonly made: number
  /** Values that could not be made. */
  readonly failed: number
  readonly entries: number
  readonly bytes: number
}

/** The data cache of one process. */
export interface DataCache {
  /**
   * Returns a kept or new value; each caller gets a copy.
   * @throws {RangeError} for invalid options; {UncacheableValueError} for a value that cannot be kept; errors of
   * `read`, if no value is fresh or stale.
   */
  read<Value>(call: CachedCall<Value>, reader: CacheReader): Promise<Value>
  /**
   * Drops tags and paths: here at once; in other processes when the promise resolves, or as soon as they are reachable.
   * @param isEarly whether the same targets are dropped again soon: the drop listeners are called for that one only.
   */
  revalidate(targets: readonly string[], isEarly?: boolean): Promise<void>
  /**
   * Drops tags and paths that another process has revalidated.
   * @param at when, as in `DropTimes`.
   */
  drop(targets: readonly string[], at?: number): void
  /**
   * Calls back when targets are dropped, by whichever process; with `undefined` if that may be any, because messages of
   * other instances were missed.
   * @returns removes the listener.
   */
  onDrop(listener: DropListener): () => void
  /** Targets that this process has dropped. */
  readonly revalidations: Pick<Revalidations, 'now' | 'concern' | 'onSettle'>
  /** Whether the drops of other instances arrive; `true` without a shared store. */
  readonly isHearing: boolean
  readonly stats: DataCacheStats
  /** Stops listening to other instances. */
  dispose(): void
}

/**
 * Called for dropped targets. Must not throw.
 * @param at as in `DropTimes`.
 */
export type DropListener = (targets: readonly string[] | undefined, at: number) => void

/** Targets of one message to other processes, and to event streams, which compare each with all of theirs. */
const MOST_A_MESSAGE = 1_000

/** A target without data. It tells other processes that this one may have missed what they have dropped. */
const NOTHING_DROPPED = 'millrace:nothing'

/** Parts of a data cache. */
export interface DataCacheOptions {
  /** Values of other builds are ignored. */
  readonly buildId: string
  /** `undefined` without a shared store. */
  readonly redis: RedisLink | undefined
  readonly log: Logger
  /** Tells other processes what this one revalidates. Does not reject. */
  readonly onRevalidate?: ((targets: readonly string[], at: number) => Promise<void>) | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Default: none yet. */
  readonly drops?: DropTimes | undefined
  /** For tests. */
  readonly bounds?: LruBounds
}

/** Creates the cache of a process. */
export function createDataCache(options: DataCacheOptions): DataCache {
  const { redis, log, now, buildId, onRevalidate, bounds, drops = new DropTimes(now) } = options
  const revalidations = createRevalidations()
  const listeners = new Set<DropListener>()
  let isHeard = false
  // What other instances have dropped before is not known.
  if (redis !== undefined) drops.note(undefined)
  const tell = (targets?: readonly string[], told?: number): number => {
    const at = drops.note(targets && targetsOfData(targets), told)
    for (const listener of listeners) listener(targets, at)
    return at
  }
  const forget = (targets: readonly string[]): void => {
    const ofData = targetsOfData(targets)
    if (ofData.length > 0) revalidations.add(ofData)
  }
  const drop = (given: readonly string[], { isEarly = false, at }: SharedDrop): void => {
    const targets = namedTargets(given)
    forget(targets)
    if (!isEarly && targets.length > 0) tell(targets, at)
  }
  // Data of other processes would count as older than what this one may have missed.
  const catchOthersUp = (): void => {
    void onRevalidate?.([NOTHING_DROPPED], drops.last)
    void shared?.revalidate([NOTHING_DROPPED], { at: drops.last })
  }
  const dropAll = (): void => {
    revalidations.addAll()
    tell()
    if (isHeard) catchOthersUp()
  }
  const shared =
    redis &&
    createSharedValues({
      link: redis,
      buildId,
      log,
      now,
      onTargets: drop,
      onMissed: dropAll,
    })
  // What a client has made above its share leaves the shared store too.
  const memory = new MemoryValues({ revalidations, log, bounds, onCrowdedOut: (...own) => shared?.removeOwn(...own) })
  const source = new ValueSource({ memory, shared, revalidations, now })
  const counts = { hits: 0, stale: 0, misses: 0 }

  async function find(call: NamedCall): Promise<KeptValue> {
    const kept = memory.get(call.name, call.reader.pathname)
    const state = kept === undefined ? 'expired' : valueState(kept, now())
    if (kept !== undefined && state !== 'expired') {
      counts[state === 'fresh' ? 'hits' : 'stale'] += 1
      if (state === 'stale') source.refresh(call, kept)
      return kept
    }
    counts.misses += 1
    const value = await source.get(call)
    // Another instance has made it and put it into the shared store.
    if (valueState(value, now()) === 'stale') source.refresh(call, value)
    return value
  }

  return {
    async read<Value>({ key, options: given, read }: CachedCall<Value>, reader: CacheReader): Promise<Value> {
      const name = nameOf(key)
      const scope = currentReadScope(reader.of)
      refuseCycle(name, scope)
      const value = await find({ name, ...checked(name, given), read, reader })
      const isStale = value.ofStale || valueState(value, now()) === 'stale'
      noteUse(scope, value.tags, isStale)
      reader.used(value.tags, isStale)
      return textToValue(value.text) as Value
    },
    async revalidate(given, isEarly = false) {
      const targets = namedTargets(given)
      forget(targets)
      for (const some of messagesOf(targets)) {
        // The time of an early drop follows.
        const at = isEarly ? drops.last : tell(some)
        await Promise.all([isEarly ? undefined : onRevalidate?.(some, at), shared?.revalidate(some, { isEarly, at })])
      }
    },
    drop: (targets, at) => drop(targets, { at }),
    onDrop(listener) {
      listeners.add(listener)
      if (!isHeard) {
        isHeard = true
        catchOthersUp()
      }
      return () => listeners.delete(listener)
    },
    revalidations,
    get isHearing() {
      return shared === undefined || shared.isHearing
    },
    get stats() {
      return { ...counts, ...source.counts, entries: memory.size, bytes: memory.bytes }
    },
    dispose: () => shared?.dispose(),
  }
}

function* messagesOf(targets: readonly string[]): Iterable<readonly string[]> {
  for (let from = 0; from < targets.length; from += MOST_A_MESSAGE) yield targets.slice(from, from + MOST_A_MESSAGE)
}

/** As JSON, which would say `null` for what it does not know: a visitor's `1e999` must not name what is kept for all. */
function nameOf(key: CacheKey): string {
  if (typeof key === 'string') return JSON.stringify(key)
  return `[${key.map((part, at) => partName(part, at)).join()}]`
}

function partName(part: unknown, at: number): string {
  switch (typeof part) {
    case 'string':
      return JSON.stringify(part)
    case 'number':
      return Object.is(part, -0) ? '-0' : String(part)
    case 'bigint':
      return `${part}n`
    case 'boolean':
    case 'undefined':
      return String(part)
    default:
      if (part === null) return 'null'
  }
  const known = 'Write texts, numbers, booleans and null, which name one value each'
  throw new TypeError(`cached: part ${at + 1} of the key is of type ${typeof part}. ${known}`)
}

function checked(
  name: string,
  { seconds, staleSeconds = 0, tags = [] }: CachedOptions,
): Pick<KeptValue, 'tags' | 'freshMs' | 'staleMs'> {
  const refuse = (what: string): never => {
    throw new RangeError(`cached(${shownKey(name)}): ${what}`)
  }
  if (!(seconds > 0 && Number.isFinite(seconds))) refuse(`seconds: ${seconds} is not a number above 0`)
  if (!(staleSeconds >= 0 && Number.isFinite(staleSeconds)))
    refuse(`staleSeconds: ${staleSeconds} is not a number, 0 or more`)
  const path = tags.find((tag) => tag.startsWith('/'))
  if (path !== undefined)
    refuse(`the tag ${JSON.stringify(path)} begins with a slash; revalidate() would treat it as a path`)
  return { tags, freshMs: seconds * 1_000, staleMs: staleSeconds * 1_000 }
}

/** A value that waits for itself would never be made. */
function refuseCycle(name: string, scope: ReadScope | undefined): void {
  for (let outer = scope; outer !== undefined; outer = outer.parent) {
    if (outer.name === name) throw new Error(`cached(${shownKey(name)}) was called inside of itself`)
  }
}
