import { isControlFlow } from '../../../shared/control-flow.ts'
import { clientKey } from '../../http/client-key.ts'
import { createShares } from '../../http/shares.ts'
import { createWaiterTurns } from '../../http/waiter-turns.ts'
import { shownKey, type CachedRead, type CacheReader } from './cached-read.ts'
import { FRESH_OF_STALE_MS, valueState, type KeptValue } from './kept-value.ts'
import type { MemoryValue, MemoryValues } from './memory-values.ts'
import { currentReadScope, withReadScope, type ReadScope } from './read-scope.ts'
import { normalTarget } from './revalidation-targets.ts'
import type { Revalidations } from './revalidations.ts'
import type { SharedValues } from './shared-values.ts'
import { valueToText } from './value-text.ts'

const REFRESH_RETRY_MS = 5_000 // visitors get the stale value meanwhile; the source may be overloaded
const MOST_REFRESHES = 32 // at once: whoever asked has left with the stale value, and holds no place meanwhile
const READ_LIMIT_MS = 30_000 // all callers wait for one read: a source that never answers must not block a value

/** A value that is being fetched or made. */
interface PendingValue {
  readonly tags: readonly string[]
  readonly since: number
  readonly value: Promise<MemoryValue>
}

/** A validated call of `cached`. */
export interface NamedCall extends Pick<KeptValue, 'tags' | 'freshMs' | 'staleMs'> {
  readonly name: string
  readonly read: CachedRead<unknown>
  readonly reader: CacheReader
}

/** Parts of a value source. */
interface ValueSourceParts {
  readonly memory: MemoryValues
  readonly shared: SharedValues | undefined
  readonly revalidations: Revalidations
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Fetches values from the shared store or makes them. Calls for one value share one pending read. */
export class ValueSource {
  /** Since the start: values from the shared store, values made, failures to make one. */
  readonly counts = { shared: 0, made: 0, failed: 0 }
  readonly #parts: ValueSourceParts
  /** Bound: one entry per value with a waiting caller. */
  readonly #pending = new Map<string, PendingValue>()
  readonly #refreshes = createShares({ most: () => MOST_REFRESHES, halves: true })
  /** All who have waited for a value go on with a copy of their own, and who has made one reads its text. */
  readonly #waiters = createWaiterTurns()

  constructor(parts: ValueSourceParts) {
    this.#parts = parts
  }

  /** Joins the pending read of the value, or starts one. */
  async get(call: NamedCall): Promise<MemoryValue> {
    const pending = this.#current(call)
    if (pending === undefined) return this.#start(call, false)
    try {
      return await pending.value.finally(() => this.#waiters.take(clientOf(call)))
    } catch (thrown) {
      // It was made with the signal of a cancelled request; other callers still want the value.
      if (!(thrown instanceof Error) || thrown.name !== 'AbortError') throw thrown
      return this.#pending.get(call.name)?.value ?? this.#start(call, false)
    }
  }

  /**
   * Refreshes a stale value, unless that has just failed, is already running, or too many others are, of this client or of
   * all: then the next one who asks may begin it.
   */
  refresh(call: NamedCall, stale: MemoryValue): void {
    const { memory, shared, now } = this.#parts
    if (now() < stale.retryAt || this.#current(call) !== undefined) return
    const { address } = call.reader
    const client = address === undefined ? undefined : clientKey(address)
    if (this.#refreshes.take(client) !== undefined) return
    const refreshed = this.#start(call, true).finally(() => this.#refreshes.give(client))
    refreshed.catch((thrown: unknown) => {
      // A redirect or refusal is not a failure: the next caller gets it.
      if (isControlFlow(thrown)) {
        memory.delete(call.name)
        shared?.remove(call.name)
        return
      }
      stale.retryAt = now() + REFRESH_RETRY_MS
      call.reader.failed(thrown)
    })
  }

  /** The pending read of a value, unless its result has been revalidated. */
  #current({ name, reader }: NamedCall): PendingValue | undefined {
    const pending = this.#pending.get(name)
    if (pending === undefined || this.#parts.revalidations.concern(pending, reader.pathname)) return undefined
    return pending
  }

  /** @param skipStale ignores a stale value of the shared store. */
  #start(given: NamedCall, skipStale: boolean): Promise<MemoryValue> {
    const { name } = given
    const tags = given.tags.map(normalTarget)
    const call = { ...given, tags }
    const since = this.#parts.revalidations.now
    const value = this.#fetchOrMake(call, since, skipStale).finally(() => {
      if (this.#pending.get(name) === pending) this.#pending.delete(name)
    })
    const pending: PendingValue = { tags, since, value }
    this.#pending.set(name, pending)
    return value
  }

  async #fetchOrMake(call: NamedCall, since: number, skipStale: boolean): Promise<MemoryValue> {
    const { memory, shared, now } = this.#parts
    const { name, tags, reader } = call
    const found = shared === undefined ? undefined : await shared.find(name, tags, reader.pathname)
    if (found?.value !== undefined) {
      const state = valueState(found.value, now())
      if (state === 'fresh' || (state === 'stale' && !skipStale)) {
        const value: MemoryValue = { ...found.value, since, isOwn: false, retryAt: 0 }
        memory.keep(name, value, reader)
        this.counts.shared += 1
        return value
      }
    }
    const value = await this.#make(call, since)
    if (memory.keep(name, value, reader) && found !== undefined) {
      shared?.put(name, value, found.clock, clientOf(call))
    }
    return value
  }

  async #make(call: NamedCall, since: number): Promise<MemoryValue> {
    const { name, tags, freshMs: asked, staleMs, read, reader } = call
    const { of } = reader
    const scope: ReadScope = { name, of, parent: currentReadScope(of), tags: new Set(tags), ofStale: false }
    try {
      // Not the value: it takes several times the memory of its text, and would be kept while this waits for its turn.
      const text = await limitedRead(name, (args) => withReadScope(scope, () => read(args))).then((made) =>
        valueToText(name, made),
      )
      this.counts.made += 1
      const madeAt = this.#parts.now()
      const { ofStale } = scope
      const freshMs = ofStale ? Math.min(asked, FRESH_OF_STALE_MS) : asked
      // Hundreds may be made at the same moment, by one query to a database.
      await this.#waiters.take(clientOf(call))
      return { text, tags: [...scope.tags], madeAt, freshMs, staleMs, ofStale, since, isOwn: true, retryAt: 0 }
    } catch (thrown) {
      this.counts.failed += 1
      throw thrown
    } finally {
      scope.of = undefined
    }
  }
}

function clientOf({ reader }: NamedCall): string {
  return clientKey(reader.address ?? '')
}

/**
 * Makes a value in bounded time.
 * @param name of the value, for the message.
 * @throws the errors of `read`; a `TimeoutError` if it takes too long.
 */
export async function limitedRead<Value>(
  name: string,
  read: CachedRead<Value>,
  limitMs: number = READ_LIMIT_MS,
): Promise<Value> {
  const controller = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new DOMException(`cached(${shownKey(name)}) has taken longer than ${limitMs} ms`, 'TimeoutError')
    reject(error)
    controller.abort(error)
  }, limitMs)
  try {
    return await Promise.race([read({ signal: controller.signal }), late])
  } finally {
    clearTimeout(timer)
  }
}
