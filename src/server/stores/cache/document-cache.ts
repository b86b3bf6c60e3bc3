/**
 * Documents that were rendered lately and are for everybody, to be given out instead of a refusal when the server has too
 * much to do. Nothing is looked for here at other times. Bounds of a process: 1,000 documents and 16 MiB, the least
 * recently used go first; a document of more than 1 MiB is not kept, and of one page no more than 32 (`document-names.ts`). What is revalidated is not given out any more.
 */
import { encodeWhole, type Encoding } from '../../http/content-encoding.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { DataCache } from './data-cache.ts'
import type { DocumentLifetime } from './document-lifetime.ts'
import { createDocumentNames, type AskedDocument, type SearchUses } from './document-names.ts'
import { createLruCache, type LruBounds } from './lru-cache.ts'
import type { Droppable } from './revalidations.ts'

const BOUNDS: LruBounds = { entries: 1_000, bytes: 16_777_216 }
const MOST_DOCUMENT_BYTES = 1_048_576
const ENTRY_BYTES = 1_000 // of headers and key, beside the body

/** A document as it was sent. Whoever makes one says that nothing in it belongs to a visitor. */
export interface SentDocument {
  readonly lifetime: DocumentLifetime
  readonly etag: string
  /** Where it is not known already: headers that depend on the document alone, and its body without a coding. */
  readonly content: () => { readonly headers: HeaderList; readonly body: Buffer }
  /** The body in the coding in which it was sent, if it was. */
  readonly encoded?: readonly [Encoding, Buffer] | undefined
}

/** A document that may be given out. */
export interface KeptDocument {
  readonly headers: readonly string[]
  readonly etag: string
  /** Milliseconds since it was made. */
  readonly ageMs: number
  /** Milliseconds for which it is fresh, from its making. */
  readonly freshMs: number
  /** Its body in a coding; made once. */
  body(encoding: Encoding | undefined): Promise<Buffer>
}

/** Numbers of one process. */
export interface DocumentCacheStats {
  /** Given out instead of a refusal. */
  readonly served: number
  readonly entries: number
  readonly bytes: number
}

/** The documents of one process. */
export interface DocumentCache {
  /** For `Droppable.since`, before a document is begun. */
  readonly now: number
  /**
   * @param uses the search params that it depends on.
   * @param pathname of the page.
   * @param client that has asked for it, as `clientKey` names it.
   */
  keep(
    asked: AskedDocument,
    uses: SearchUses,
    document: SentDocument,
    droppable: Droppable,
    pathname: string,
    client?: string,
  ): void
  /** Takes a document to give it out. */
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
 * @param services whose data cache tells what has been dropped; it is not opened before a document is kept.
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

  /** The data cache, of which this hears when tags are forgotten, is not opened before there is something to keep. */
  function hearOfTags(): void {
    if (isSettling) return
    isSettling = true
    services.data.revalidations.onSettle((isDropped, settled) => {
      for (const [key, entry] of entries.entries()) {
        if (isDropped(entry)) entries.delete(key)
        else entry.settled = settled
      }
    })
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
    keep(asked, uses, { lifetime, etag, content, encoded }, { tags, since }, pathname, client) {
      hearOfTags()
      if (services.data.revalidations.concern({ tags, since }, pathname)) return
      const key = names.learn(asked, uses, (name) => entries.delete(name))
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
