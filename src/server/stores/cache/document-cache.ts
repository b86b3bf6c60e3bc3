/**
 * Documents without visitor data: those of pages with `cache: 'shared'`, and copies that an overloaded server sends instead
 * of a refusal. Bounds per process: 1,000 documents and 16 MiB, the least recently used go first; 1 MiB per document, 32
 * copies per page (`document-names.ts`). Revalidated documents are not sent. Besides, 1,000 reasons why a document cannot
 * be kept, each for a minute.
 */
import type { Encoding } from '../../http/content-encoding.ts'
import type { HeaderList } from '../../http/header-list.ts'
import {
  DocumentEntries,
  type DocumentCacheServices,
  type DocumentData,
  type KeptDocument,
  type UnkeptDocument,
} from './document-entries.ts'
import type { DocumentLifetime } from './document-lifetime.ts'
import { KeptBody } from './kept-body.ts'
import { createDocumentNames, type AskedDocument, type SearchUses } from './document-names.ts'
import { createLruCache, type LruBounds } from './lru-cache.ts'
import type { VisitorReads } from './visitor-reads.ts'
import type { StoredShell } from './stored-shell.ts'
import type { Droppable } from './revalidations.ts'

export type { KeptDocument, UnkeptDocument } from './document-entries.ts'

const BOUNDS: LruBounds = { entries: 1_000, bytes: 16_777_216 }
const MOST_REASONS = 1_000
const RETRY_MS = 5_000 // after a failed part, as in `document-entries.ts`
const REASON_MS = 60_000 // the page may have changed; until then nobody waits for a making in vain

/** A sent document without visitor data. */
export interface SentDocument {
  readonly lifetime: DocumentLifetime
  readonly etag: string
  /** Called for a new `etag`: headers that depend only on the document, and its unencoded body. */
  readonly content: () => { readonly headers: HeaderList; readonly body: Buffer }
  /** The body in the coding in which it was sent, if any. */
  readonly encoded?: readonly [Encoding, Buffer] | undefined
  /** The `Cache-Control` among the headers is the default, and not one that a loader has set. */
  readonly hasDefaultCaching?: boolean
  /** As in `KeptDocument`. */
  readonly slots?: StoredShell | UnkeptDocument | undefined
  /** As in `KeptDocument`; default: `true`. */
  readonly isWhole?: boolean
}

/** A sent document, and what it depends on. `since`: `DocumentCache.now` before rendering began. */
interface MadeDocument extends Droppable {
  readonly asked: AskedDocument
  /** The search params that it depends on. */
  readonly uses: SearchUses
  readonly document: SentDocument
  /** As in `KeptDocument`. */
  readonly reads?: VisitorReads | undefined
  /** As in `DocumentFacts`. */
  readonly data?: Promise<DocumentData | undefined> | undefined
  readonly pathname: string
  /** Client that requested it, as `clientKey` names it. */
  readonly client?: string
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
  /** Keeps a document, unless it is too large or already revalidated: then only those who wait for it get it. */
  keep(made: MadeDocument): KeptDocument
  /** Finds a document to send instead of a refusal. */
  take(asked: AskedDocument): KeptDocument | undefined
  /** Finds a document, or why there is none. */
  find(asked: AskedDocument): KeptDocument | UnkeptDocument | undefined
  /** Names a document for those who wait for it: by its page until it is known which search params it depends on. */
  nameOf(asked: AskedDocument): string
  /** Remembers for a minute that a document cannot be kept. */
  refuse(asked: AskedDocument, uses: SearchUses, reason: string, client: string): void
  /** Notes that a document could not be made again. */
  postpone(asked: AskedDocument): void
  /** Removes a document. */
  remove(asked: AskedDocument): void
  /** Whether something was revalidated since. */
  hasDropped(since: number): boolean
  /** Whether drops of other instances arrive; `false` while the shared store cannot be reached. */
  readonly isHearing: boolean
  readonly stats: DocumentCacheStats
}

/** @param now milliseconds since the epoch. */
export function createDocumentCache(
  services: DocumentCacheServices,
  now: () => number,
  bounds: LruBounds = BOUNDS,
): DocumentCache {
  const entries = new DocumentEntries(services, now, bounds)
  const reasons = createLruCache<UnkeptDocument & { readonly until: number }>({
    entries: MOST_REASONS,
    bytes: MOST_REASONS,
  })
  const names = createDocumentNames((name) => {
    entries.delete(name)
    reasons.delete(name)
  })
  let served = 0
  const nowOfDrops = (): number => services.openedData?.revalidations.now ?? 0

  function find(asked: AskedDocument): KeptDocument | undefined {
    const key = names.find(asked)
    return key === undefined ? undefined : entries.find(key)
  }

  return {
    get now() {
      return nowOfDrops()
    },
    hasDropped: (since) => nowOfDrops() !== since,
    get isHearing() {
      return services.data.isHearing
    },
    keep(made) {
      const { asked, uses, reads, tags, since, client, pathname, data } = made
      const { lifetime, etag, content, encoded, hasDefaultCaching = false, slots, isWhole = true } = made.document
      const key = names.learn(asked, uses, client ?? '')
      const same = isWhole ? entries.get(key, etag) : undefined
      const { headers, body } = content()
      const document = new KeptBody(headers, etag, body, same)
      reasons.delete(key)
      const facts = { key, tags, since, client, pathname, lifetime, hasDefaultCaching, slots, isWhole, reads, encoded }
      return entries.keep({ ...facts, document, data: isWhole ? data : undefined })
    },
    take(asked) {
      const kept = find(asked)
      if (kept !== undefined) served += 1
      return kept
    },
    find(asked) {
      const key = names.find(asked)
      const known = key === undefined ? undefined : reasons.get(key)
      return known !== undefined && known.until > now() ? known : find(asked)
    },
    nameOf: (asked) => names.find(asked) ?? asked.page,
    refuse(asked, uses, reason, client) {
      const key = names.learn(asked, uses, client)
      entries.delete(key)
      reasons.set(key, { reason, until: now() + (reason === 'failed' ? RETRY_MS : REASON_MS) }, 1, client)
    },
    postpone: (asked) => entries.postpone(names.find(asked) ?? ''),
    remove: (asked) => entries.delete(names.find(asked) ?? ''),
    get stats() {
      return { served, ...entries.stats }
    },
  }
}
