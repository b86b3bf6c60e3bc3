import type { KeptSegment } from '../../../shared/protocol/encode-route-data.ts'
import type { Encoding } from '../../http/content-encoding.ts'
import type { DataCache } from './data-cache.ts'
import { DocumentExtras, type Extra } from './document-extras.ts'
import type { DocumentLifetime } from './document-lifetime.ts'
import type { KeptBody } from './kept-body.ts'
import { isOfFuture } from './kept-value.ts'
import type { VisitorReads } from './visitor-reads.ts'
import { createLruCache, type LruBounds, type LruCache } from './lru-cache.ts'
import { bytesOfTags, settleEntries, type Droppable } from './revalidations.ts'
import { shellBytes, type StoredShell } from './stored-shell.ts'

const MOST_DOCUMENT_BYTES = 1_048_576
/** Of all room, for codings and for the data of clicks: see `document-extras.ts`. */
const EXTRA_SHARE = 0.25
const EXTRAS_EACH = 8 // on average
const ENTRY_BYTES = 1_000 // for headers and key, besides the body
const RETRY_MS = 5_000 // after a failed making: what it needs may be overloaded

/** A document that is known not to be kept. */
export interface UnkeptDocument {
  readonly reason: string
}

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
  /** For visitors of whom something is known; or why there is none. Absent for a page without slots. */
  readonly slots: StoredShell | UnkeptDocument | undefined
  /** Whether it has a body, for visitors of whom nothing is known. */
  readonly isWhole: boolean
  /** What the functions `visitor` of its page read; absent for a copy of what a visitor got. */
  readonly reads: VisitorReads | undefined
  /** Whether it is in the cache: it is not if it is too large, or was dropped while it was made. */
  readonly isStored: boolean
  /** It has been revalidated. */
  readonly isDropped: boolean
  /** Bytes of its body without a coding. */
  readonly length: number
  /** Whether a new one may be made now: not a moment after that has failed. */
  readonly mayRemake: boolean
  /**
   * Its body in a coding. A promise only if the coding is not there.
   * @param address of the client that asks.
   */
  body(encoding: Encoding | undefined, address: string): Buffer | Promise<Buffer>
  /**
   * The data of its page, as old as the document, and dropped with it.
   * @param name of the answer: equal for equal segments.
   * @param make its content.
   * @param address of the client that asks.
   * @returns `undefined` if the data is not there: document and data are too large together.
   */
  answer(
    name: string,
    make: (data: DocumentData) => KeptBody,
    address: string,
  ): KeptDocument | Promise<KeptDocument | undefined> | undefined
}

/** What clicks get of a kept document: what its loaders have returned, encoded. */
export interface DocumentData {
  /** As `at` in `RouteDataHead`. */
  readonly at: number | undefined
  /** By id. */
  readonly segments: ReadonlyMap<string, KeptSegment>
  /** Headers that its answers have. */
  readonly headers: readonly string[]
}

/** What a document is kept with. */
export interface DocumentFacts extends Omit<Droppable, 'settled'> {
  readonly key: string
  readonly pathname: string
  readonly client: string | undefined
  readonly lifetime: DocumentLifetime
  readonly hasDefaultCaching: boolean
  readonly slots: StoredShell | UnkeptDocument | undefined
  readonly isWhole: boolean
  readonly reads: VisitorReads | undefined
  readonly document: KeptBody
  /** The coding in which it was sent, if any. */
  readonly encoded?: readonly [Encoding, Buffer] | undefined
  /** Absent for a copy of what a visitor got. Does not reject. */
  readonly data: Promise<DocumentData | undefined> | undefined
}

interface Entry extends Omit<DocumentFacts, 'data' | 'encoded'> {
  readonly madeAt: number
  /** `undefined` if there is none, or no room for it. */
  data: DocumentData | Promise<DocumentData | undefined> | undefined
  /** By name, with its place among the extras. */
  readonly answers: Map<string, { readonly body: KeptBody; extra?: Extra }>
  settled?: number
  retryAt: number
}

/** Services of kept documents. */
export interface DocumentCacheServices {
  /** Knows what has been dropped; opened when the first document is kept. */
  readonly data: Pick<DataCache, 'revalidations' | 'isHearing'>
  readonly openedData: Pick<DataCache, 'revalidations'> | undefined
}

/** What a found document needs of its store. */
interface FoundStore {
  readonly extras: DocumentExtras
  isDropped(entry: Entry): boolean
  answer(entry: Entry, isStored: boolean, body: KeptBody): KeptDocument
  answerOf(entry: Entry, asked: AskedAnswer): KeptBody
}

/** Data of a kept document that somebody asks for. */
interface AskedAnswer {
  readonly name: string
  readonly address: string
  readonly make: () => KeptBody
}

/** A document, or data of its page, at the moment at which it was found. */
class FoundDocument implements KeptDocument {
  readonly ageMs: number
  readonly isStored: boolean
  readonly mayRemake: boolean
  readonly #entry: Entry
  readonly #body: KeptBody
  readonly #store: FoundStore

  constructor(
    found: { readonly entry: Entry; readonly body: KeptBody; readonly isStored: boolean; readonly now: number },
    store: FoundStore,
  ) {
    const { entry, body, isStored, now } = found
    this.ageMs = Math.max(0, now - entry.madeAt)
    this.isStored = isStored
    this.mayRemake = now >= entry.retryAt
    this.#entry = entry
    this.#body = body
    this.#store = store
  }

  get headers(): readonly string[] {
    return this.#body.headers
  }

  get etag(): string {
    return this.#body.etag
  }

  get length(): number {
    return this.#body.plain.length
  }

  get slots(): KeptDocument['slots'] {
    return this.#entry.slots
  }

  get isWhole(): KeptDocument['isWhole'] {
    return this.#entry.isWhole
  }

  get reads(): KeptDocument['reads'] {
    return this.#entry.reads
  }

  get freshMs(): number {
    return this.#entry.lifetime.freshMs
  }

  get hasDefaultCaching(): boolean {
    // What rules say of documents is not meant for data.
    return this.#entry.hasDefaultCaching && this.#body === this.#entry.document
  }

  get isDropped(): boolean {
    return this.#store.isDropped(this.#entry)
  }

  body(encoding: Encoding | undefined, address: string): Buffer | Promise<Buffer> {
    return this.#body.in(encoding, { extras: this.#store.extras, address })
  }

  answer(
    name: string,
    make: (data: DocumentData) => KeptBody,
    address: string,
  ): KeptDocument | Promise<KeptDocument | undefined> | undefined {
    const entry = this.#entry
    const of = (data: DocumentData | undefined): KeptDocument | undefined => {
      if (data === undefined) return undefined
      const body = this.#store.answerOf(entry, { name, address, make: () => make(data) })
      return this.#store.answer(entry, this.isStored, body)
    }
    return entry.data instanceof Promise ? entry.data.then(of) : of(entry.data)
  }
}

/** The documents that a process keeps, by name. */
export class DocumentEntries {
  readonly #entries: LruCache<Entry>
  readonly #extras: DocumentExtras
  readonly #services: DocumentCacheServices
  readonly #now: () => number
  #isSettling = false
  readonly #store: FoundStore

  /** @param now milliseconds since the epoch. */
  constructor(services: DocumentCacheServices, now: () => number, bounds: LruBounds) {
    const extraBytes = bounds.bytes * EXTRA_SHARE
    this.#entries = createLruCache<Entry>({ ...bounds, bytes: bounds.bytes - extraBytes })
    this.#extras = new DocumentExtras({ entries: bounds.entries * EXTRAS_EACH, bytes: extraBytes }, now)
    this.#store = {
      extras: this.#extras,
      isDropped: (entry) => this.#isDropped(entry),
      answer: (entry, isStored, body) => this.#keptOf(entry, body, isStored),
      answerOf: (...given) => this.#answerOf(...given),
    }
    this.#services = services
    this.#now = now
  }

  /** A body to share with an equal one. */
  get(key: string, etag: string): KeptBody | undefined {
    const document = this.#entries.get(key)?.document
    return document?.etag === etag ? document : undefined
  }

  /** Keeps a document that is made now, unless it is too large or dropped. */
  keep({ encoded, ...facts }: DocumentFacts): KeptDocument {
    this.#hearOfTags()
    if (encoded !== undefined) facts.document.add(...encoded, { extras: this.#extras, address: facts.client ?? '' })
    const entry: Entry = { ...facts, madeAt: this.#now(), answers: new Map(), retryAt: 0 }
    const isStored = !this.#isDropped(entry) && this.#put(entry)
    void facts.data?.then((data) => {
      entry.data = data
      if (this.#entries.get(entry.key) === entry) this.#put(entry)
    })
    return this.#keptOf(entry, entry.document, isStored)
  }

  /** A document that is neither too old nor dropped. */
  find(key: string): KeptDocument | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { freshMs, staleMs } = entry.lifetime
    const now = this.#now()
    const isUsable = now - entry.madeAt <= freshMs + staleMs && !isOfFuture(entry.madeAt, now)
    if (isUsable && !this.#isDropped(entry)) return this.#keptOf(entry, entry.document, true)
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

  /** Their number, and the bytes of all forms. */
  get stats(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.bytes + this.#extras.bytes }
  }

  #hearOfTags(): void {
    if (this.#isSettling) return
    this.#isSettling = true
    this.#services.data.revalidations.onSettle(settleEntries(this.#entries))
  }

  /** Data gives way to its document. */
  #put(entry: Entry): boolean {
    if (bytesOf(entry) > MOST_DOCUMENT_BYTES) {
      entry.data = undefined
    }
    const bytes = bytesOf(entry)
    const { slots } = entry
    const own = slots !== undefined && 'body' in slots ? shellBytes(slots) : 0
    if (bytes <= MOST_DOCUMENT_BYTES) return this.#entries.set(entry.key, entry, bytes + own, entry.client)
    this.#entries.delete(entry.key)
    return false
  }

  #isDropped(entry: Entry): boolean {
    return this.#services.data.revalidations.concern(entry, entry.pathname)
  }

  #keptOf(entry: Entry, body: KeptBody, isStored: boolean): KeptDocument {
    return new FoundDocument({ entry, body, isStored, now: this.#now() }, this.#store)
  }

  #answerOf({ answers }: Entry, { name, address, make }: AskedAnswer): KeptBody {
    const known = answers.get(name)
    if (known?.extra !== undefined) this.#extras.use(known.extra)
    if (known !== undefined) return known.body
    const answer: { readonly body: KeptBody; extra?: Extra } = { body: make() }
    answers.set(name, answer)
    answer.extra = this.#extras.add(name.length + answer.body.plain.length, address, () => answers.delete(name))
    return answer.body
  }
}

/** Without the shell, which has a bound of its own. */
function bytesOf({ key, tags, document, data, reads }: Entry): number {
  let bytes = ENTRY_BYTES + key.length + bytesOfTags(tags) + (reads?.bytes ?? 0) + document.plain.length
  if (data === undefined || data instanceof Promise) return bytes
  for (const segment of data.segments.values()) {
    if (typeof segment === 'string') bytes += segment.length
    else for (const frame of segment.frames) bytes += (typeof frame === 'string' ? frame : frame.html).length
  }
  return bytes
}
