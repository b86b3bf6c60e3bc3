import { encodeWhole, type Encoding } from '../../http/content-encoding.ts'
import type { DataCache } from './data-cache.ts'
import type { DocumentLifetime } from './document-lifetime.ts'
import { createLruCache, type LruBounds, type LruCache } from './lru-cache.ts'
import { settleEntries, type Droppable } from './revalidations.ts'

const MOST_DOCUMENT_BYTES = 1_048_576
const ENTRY_BYTES = 1_000 // for headers and key, besides the body
const RETRY_MS = 5_000 // after a failed making: what it needs may be overloaded

/** A kept document that may be sent. */
export interface KeptDocument {
  readonly headers: readonly string[]
  readonly etag: string
  /** Milliseconds since it was rendered. */
  readonly ageMs: number
  /** Milliseconds for which it is fresh, counted from its rendering. */
  readonly freshMs: number
  /** As in `SentDocument`. */
  readonly hasDefaultCaching: boolean
  /** Whether it is in the cache: it is not if it is too large. */
  readonly isStored: boolean
  /** It has been revalidated. */
  readonly isDropped: boolean
  /** Bytes of its body without a coding. */
  readonly length: number
  /** Whether a new one may be made now: not a moment after that has failed. */
  readonly mayRemake: boolean
  /** Its body in a coding; encoded once. A promise only at the first use of a coding. */
  body(encoding: Encoding | undefined): Buffer | Promise<Buffer>
}

/** What a document is kept with. */
export interface DocumentFacts extends Omit<Droppable, 'settled'> {
  readonly key: string
  readonly pathname: string
  readonly client: string | undefined
  readonly lifetime: DocumentLifetime
  readonly headers: readonly string[]
  readonly hasDefaultCaching: boolean
  readonly etag: string
  readonly plain: Buffer
  /** Its body in codings that are there already. */
  readonly encoded: Map<Encoding, Buffer>
}

interface Entry extends DocumentFacts {
  readonly madeAt: number
  /** Codings in the making. */
  readonly encoding: Map<Encoding, Promise<Buffer>>
  settled?: number
  retryAt: number
}

/** Services of kept documents. */
export interface DocumentCacheServices {
  /** Knows what has been dropped; opened when the first document is kept. */
  readonly data: Pick<DataCache, 'revalidations' | 'isHearing'>
  readonly openedData: Pick<DataCache, 'revalidations'> | undefined
}

/** The documents that a process keeps, by name. */
export class DocumentEntries {
  readonly #entries: LruCache<Entry>
  readonly #services: DocumentCacheServices
  readonly #now: () => number
  #isSettling = false

  /** @param now milliseconds since the epoch. */
  constructor(services: DocumentCacheServices, now: () => number, bounds: LruBounds) {
    this.#entries = createLruCache<Entry>(bounds)
    this.#services = services
    this.#now = now
  }

  /** Documents without their bodies, to share these with equal ones. */
  get(key: string): Pick<DocumentFacts, 'etag' | 'headers' | 'plain' | 'encoded'> | undefined {
    return this.#entries.get(key)
  }

  /** Keeps a document that is made now, unless it is too large. */
  keep(facts: DocumentFacts): KeptDocument {
    this.#hearOfTags()
    const entry: Entry = { ...facts, madeAt: this.#now(), encoding: new Map(), retryAt: 0 }
    return this.#keptOf(entry, this.#put(entry))
  }

  /** A document that is neither too old nor dropped. */
  find(key: string): KeptDocument | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { freshMs, staleMs } = entry.lifetime
    if (this.#now() - entry.madeAt <= freshMs + staleMs && !this.#isDropped(entry)) return this.#keptOf(entry, true)
    this.#entries.delete(key)
    return undefined
  }

  /** Notes that a document could not be made again. */
  postpone(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) entry.retryAt = this.#now() + RETRY_MS
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Their number and bytes, all codings. */
  get stats(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.bytes }
  }

  #hearOfTags(): void {
    if (this.#isSettling) return
    this.#isSettling = true
    this.#services.data.revalidations.onSettle(settleEntries(this.#entries))
  }

  #put(entry: Entry): boolean {
    let bytes = ENTRY_BYTES + entry.key.length + entry.plain.length
    for (const body of entry.encoded.values()) bytes += body.length
    if (bytes <= MOST_DOCUMENT_BYTES) return this.#entries.set(entry.key, entry, bytes, entry.client)
    this.#entries.delete(entry.key)
    return false
  }

  #isDropped(entry: Entry): boolean {
    return this.#services.data.revalidations.concern(entry, entry.pathname)
  }

  #keptOf(entry: Entry, isStored: boolean): KeptDocument {
    const isDropped = (): boolean => this.#isDropped(entry)
    const { headers, hasDefaultCaching, etag, plain } = entry
    return {
      headers,
      hasDefaultCaching,
      etag,
      ageMs: Math.max(0, this.#now() - entry.madeAt),
      freshMs: entry.lifetime.freshMs,
      isStored,
      length: plain.length,
      mayRemake: this.#now() >= entry.retryAt,
      get isDropped() {
        return isDropped()
      },
      body: (encoding) =>
        encoding === undefined ? plain : (entry.encoded.get(encoding) ?? this.#encode(entry, encoding)),
    }
  }

  #encode(entry: Entry, encoding: Encoding): Promise<Buffer> {
    const started = entry.encoding.get(encoding)
    if (started !== undefined) return started
    const made = encodeWhole(encoding, entry.plain)
      .then((body) => {
        entry.encoded.set(encoding, body)
        if (this.#entries.get(entry.key) === entry) this.#put(entry)
        return body
      })
      .finally(() => entry.encoding.delete(encoding))
    entry.encoding.set(encoding, made)
    return made
  }
}
