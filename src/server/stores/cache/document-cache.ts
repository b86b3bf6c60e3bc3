/**
 * Documents without visitor data, kept so that an overloaded server can send them instead of a refusal. Bounds per
 * process: 1,000 documents and 16 MiB, the least recently used go first; 1 MiB per document, 32 copies per page
 * (`document-names.ts`). Revalidated documents are not sent.
 */
import { encodeWhole, type Encoding } from '../../http/content-encoding.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { DataCache } from './data-cache.ts'
import type { DocumentLifetime } from './document-lifetime.ts'
import { createDocumentNames, type AskedDocument, type SearchUses } from './document-names.ts'
import { createLruCache, type LruBounds } from './lru-cache.ts'
import { settleEntries, type Droppable } from './revalidations.ts'

const BOUNDS: LruBounds = { entries: 1_000, bytes: 16_777_216 }
const MOST_DOCUMENT_BYTES = 1_048_576
const ENTRY_BYTES = 1_000 // for headers and key, besides the body

/** A sent document without visitor data. */
export interface SentDocument {
  readonly lifetime: DocumentLifetime
  readonly etag: string
  /** Called for a new `etag`: headers that depend only on the document, and its unencoded body. */
  readonly content: () => { readonly headers: HeaderList; readonly body: Buffer }
  /** The body in the coding in which it was sent, if any. */
  readonly encoded?: readonly [Encoding, Buffer] | undefined
}

/** A sent document, and what it depends on. `since`: `DocumentCache.now` before rendering began. */
interface MadeDocument extends Droppable {
  readonly asked: AskedDocument
  /** The search params that it depends on. */
  readonly uses: SearchUses
  readonly document: SentDocument
  readonly pathname: string
  /** Client that requested it, as `clientKey` names it. */
  readonly client?: string
}

/** A kept document that may be sent. */
export interface KeptDocument {
  readonly headers: readonly string[]
  readonly etag: string
  /** Milliseconds since it was rendered. */
  readonly ageMs: number
  /** Milliseconds for which it is fresh, counted from its rendering. */
  readonly freshMs: number
  /** Its body in a coding; encoded once. */
  body(encoding: Encoding | undefined): Promise<Buffer>
}

/** Numbers of one process. */
export interface DocumentCacheStats {
  /** Sent instead of a refusal. */
  readonly served: number
  readonly entries: number
  readonly bytes: number
}

/** The documents of one process. */
export interface DocumentCache {
  /** For `Droppable.since`: read it before rendering begins. */
  readonly now: number
  /** Keeps a document, unless it is too large or already revalidated. */
  keep(made: MadeDocument): void
  /** Finds a document to send. */
  take(asked: AskedDocument, pathname: string): KeptDocument | undefined
  readonly stats: DocumentCacheStats
}

interface Entry extends Droppable {
  readonly lifetime: DocumentLifetime
  readonly headers: readonly string[]
  readonly etag: string
  readonly madeAt: number
  readonly plain: Buffer
  readonly encoded: Map<Encoding, Buffer>
  settled?: number
}

/**
 * @param services their data cache knows what has been dropped; it is opened when the first document is kept.
 * @param now milliseconds since the epoch.
 */
export function createDocumentCache(
  services: { readonly data: DataCache; readonly openedData: DataCache | undefined },
  now: () => number,
  bounds: LruBounds = BOUNDS,
): DocumentCache {
  const entries = createLruCache<Entry>(bounds)
  const names = createDocumentNames()
  let served = 0
  let isSettling = false

  function hearOfTags(): void {
    if (isSettling) return
    isSettling = true
    services.data.revalidations.onSettle(settleEntries(entries))
  }

  function put(key: string, entry: Entry, client?: string): void {
    let bytes = ENTRY_BYTES + key.length + entry.plain.length
    for (const body of entry.encoded.values()) bytes += body.length
    if (bytes > MOST_DOCUMENT_BYTES) entries.delete(key)
    else entries.set(key, entry, bytes, client)
  }

  async function encode(key: string, entry: Entry, encoding: Encoding): Promise<Buffer> {
    const known = entry.encoded.get(encoding)
    if (known !== undefined) return known
    const body = await encodeWhole(encoding, entry.plain)
    entry.encoded.set(encoding, body)
    if (entries.get(key) === entry) put(key, entry)
    return body
  }

  return {
    get now() {
      return services.openedData?.revalidations.now ?? 0
    },
    keep(made) {
      hearOfTags()
      if (services.data.revalidations.concern(made, made.pathname)) return
      const { asked, uses, tags, since, client } = made
      const { lifetime, etag, content, encoded } = made.document
      const key = names.learn(asked, uses, client ?? '', (name) => entries.delete(name))
      const known = entries.get(key)
      const same = known?.etag === etag ? known : undefined
      const { headers, body: plain } = same === undefined ? content() : { headers: same.headers, body: same.plain }
      const bodies = new Map(same?.encoded)
      if (encoded !== undefined) bodies.set(...encoded)
      put(key, { lifetime, tags, since, headers, etag, madeAt: now(), plain, encoded: bodies }, client)
    },
    take(asked, pathname) {
      const key = names.find(asked)
      const entry = key === undefined ? undefined : entries.get(key)
      if (key === undefined || entry === undefined) return undefined
      const { freshMs, staleMs } = entry.lifetime
      const ageMs = Math.max(0, now() - entry.madeAt)
      if (ageMs > freshMs + staleMs || services.data.revalidations.concern(entry, pathname)) {
        entries.delete(key)
        return undefined
      }
      served += 1
      return {
        headers: entry.headers,
        etag: entry.etag,
        ageMs,
        freshMs,
        body: (encoding) => (encoding === undefined ? Promise.resolve(entry.plain) : encode(key, entry, encoding)),
      }
    },
    get stats() {
      return { served, entries: entries.size, bytes: entries.bytes }
    },
  }
}
