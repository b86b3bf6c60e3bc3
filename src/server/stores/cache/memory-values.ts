import type { Logger } from 'pino'
import { clientKey } from '../../http/client-key.ts'
import type { KeptValue } from './kept-value.ts'
import { createLruCache, type LruBounds, type LruCache } from './lru-cache.ts'
import { bytesOfTags, settleEntries, type Revalidations } from './revalidations.ts'

const BOUNDS: LruBounds = { entries: 10_000, bytes: 33_554_432 }
const MOST_VALUE_BYTES = 4_194_304
const ENTRY_BYTES = 300 // for a value's key, members and slot, besides its text

/** A value in the memory of this process. */
export interface MemoryValue extends KeptValue {
  /** Revalidation clock before it was made. */
  readonly since: number
  /** Whether it was made here, for the client whose room it takes; else it is a copy of a shared one. */
  readonly isOwn: boolean
  settled?: number
  /** Not made again before this moment, because the last attempt failed. */
  retryAt: number
}

/** Parts of the memory values. */
interface MemoryValuesParts {
  readonly revalidations: Revalidations
  readonly log: Logger
  /** For tests. */
  readonly bounds?: LruBounds | undefined
  /** Receives values that were evicted because the client for which they were made has too many. */
  readonly onCrowdedOut: (name: string, value: MemoryValue) => void
}

/** Values of the data cache in this process; `data-cache.ts` documents the bounds. */
export class MemoryValues {
  readonly #values: LruCache<MemoryValue>
  readonly #parts: MemoryValuesParts

  constructor(parts: MemoryValuesParts) {
    this.#parts = parts
    this.#values = createLruCache<MemoryValue>(parts.bounds ?? BOUNDS, (name, value, isCrowdedOut) => {
      if (isCrowdedOut && value.isOwn) parts.onCrowdedOut(name, value)
    })
    parts.revalidations.onSettle(settleEntries(this.#values))
  }

  get size(): number {
    return this.#values.size
  }

  get bytes(): number {
    return this.#values.bytes
  }

  /** @param pathname of the requesting page. */
  get(name: string, pathname: string): MemoryValue | undefined {
    const value = this.#values.get(name)
    return value === undefined || this.#parts.revalidations.concern(value, pathname) ? undefined : value
  }

  /** @returns whether it was kept: not if it is too large, revalidated, or older than the one in memory. */
  keep(name: string, value: MemoryValue, reader: { readonly pathname: string; readonly address?: string }): boolean {
    const { revalidations, log } = this.#parts
    // A value that was started later may have finished earlier.
    if ((this.#values.get(name)?.since ?? 0) > value.since || revalidations.concern(value, reader.pathname))
      return false
    const bytes = bytesOf(value.text)
    if (bytes > MOST_VALUE_BYTES) {
      log.warn({ bytes, most: MOST_VALUE_BYTES }, 'a value is too large for the data cache')
      return false
    }
    const room = bytes + bytesOf(name) + bytesOfTags(value.tags) + ENTRY_BYTES
    return this.#values.set(name, value, room, clientKey(reader.address ?? ''))
  }

  delete(name: string): void {
    this.#values.delete(name)
  }
}

/** Memory of a text: one byte per character up to U+00FF, else two. */
function bytesOf(text: string): number {
  return /^[\x00-\xff]*$/.test(text) ? text.length : text.length * 2
}
