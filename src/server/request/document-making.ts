import type { SharedLifetime } from '../api/loader-types.ts'
import type { RouteDataOutcome, RouteDataRedirect } from '../../shared/protocol/route-data.ts'
import type { KeptDocument } from '../stores/cache/document-cache.ts'
import type { DocumentData } from '../stores/cache/document-entries.ts'
import type { DocumentLifetime } from '../stores/cache/document-lifetime.ts'
import { FRESH_OF_STALE_MS } from '../stores/cache/kept-value.ts'
import { RequestAborted } from './request-aborted.ts'
import { SharedReads } from './shared-reads.ts'
import type { WaitingClients } from './waiting-clients.ts'
import { LearnedSlots } from './learned-slots.ts'
import { VisitorReads } from '../stores/cache/visitor-reads.ts'
import { SearchUses, type AskedDocument } from '../stores/cache/document-names.ts'

/** In seconds. */
type SharedTimes = Readonly<Record<keyof SharedLifetime, number>>

/** Lifetime of the document of a page whose loaders say none. */
const DEFAULT_LIFETIME: SharedTimes = { seconds: 60, staleSeconds: 0 }

/** What a click gets of a making. */
export interface MadeData extends DocumentData {
  readonly status: number
  /** Seconds. */
  readonly retryAfter?: number | undefined
  /** What replaces the page: a fallback, or only a document can show it. */
  readonly outcome?: RouteDataOutcome | 'document'
  readonly redirect?: RouteDataRedirect
}

/** A segment that tells what it reads of the search params. */
interface SearchReader {
  readonly uses: true | readonly string[] | undefined
}

/** The making of a document that the server keeps and sends to all visitors. */
export class DocumentMaking {
  /** The request that was first to ask for it. */
  readonly asked: AskedDocument
  /** Why it cannot be kept; `undefined` if it can, as far as is known. */
  reason: string | undefined = undefined
  /** The calls that have led to the reason, for the log. */
  stack: string | undefined = undefined
  /** The search params that its render reads. */
  readonly uses = new SearchUses()
  /** The document, once it is made; perhaps dropped meanwhile. */
  kept: KeptDocument | undefined = undefined
  /** The data of its page, once its loaders are done; does not reject. `undefined` if it cannot be for all. */
  data: Promise<MadeData | undefined> | undefined = undefined
  /** Asked once it has its place and turn: `false` if another making of the document had one before. */
  mayBegin: () => boolean = () => true
  isOvertaken = false
  /** A prefetch has begun it: it is refused before others. */
  isPrefetch = false
  /** Those that wait for it. */
  clients: WaitingClients | undefined = undefined
  /** Whether the visitor who was first to ask for it has left. */
  isAbandoned: () => boolean = () => false
  /** Called when it ends without a document. */
  onLeave: () => void = () => undefined
  /** What the functions `visitor` of the page read. */
  readonly reads = new VisitorReads()
  readonly learned: LearnedSlots
  /** Of `context.once` in those functions: what they read of their visitor does not end the making, as it does in a loader. */
  readonly visitorReads = new SharedReads()
  /** By segment id: what `visitor` gives to one of whom nothing is known. */
  readonly slots = new Map<string, Promise<unknown>>()
  readonly #readers: SearchReader[] = []
  #lifetime: DocumentLifetime = lifetimeOf()
  #usedStale = false

  constructor(asked: AskedDocument, learned = new LearnedSlots()) {
    this.asked = asked
    this.learned = learned
    this.uses.join(learned.search)
  }

  /** Notes why it cannot be kept; the first reason counts. */
  note(reason: string): void {
    this.reason ??= reason
  }

  /**
   * Ends it, because it cannot be kept: each visitor gets an answer of its own. The code of the application that has asked
   * goes on with what a request of nobody has, and nothing becomes of it. A throw would end the process where a loader
   * awaits later what it has begun.
   */
  giveUp(reason: string): void {
    this.stack ??= new Error(reason).stack
    this.note(reason)
    this.onLeave()
  }

  /**
   * Ends it as `giveUp`.
   * @throws {RequestAborted}
   */
  leave(reason: string): never {
    this.giveUp(reason)
    throw new RequestAborted('gone')
  }

  /** Adds a segment. */
  watch(reader: SearchReader): void {
    this.#readers.push(reader)
  }

  /** Sets how long it is kept. */
  keepFor(shared: SharedTimes | undefined): void {
    this.#lifetime = lifetimeOf(shared)
  }

  /** Notes that it is made of a stale value of the data cache. */
  noteStale(): void {
    this.#usedStale = true
  }

  /** How long it is kept, as far as is known. */
  get lifetime(): DocumentLifetime {
    const { freshMs, staleMs } = this.#lifetime
    return { freshMs: this.#usedStale ? Math.min(freshMs, FRESH_OF_STALE_MS) : freshMs, staleMs }
  }

  /** The search params that it has read so far. */
  get usesSoFar(): SearchUses {
    for (const { uses } of this.#readers) this.uses.add(uses)
    return this.uses
  }
}

function lifetimeOf({ seconds, staleSeconds }: SharedTimes = DEFAULT_LIFETIME): DocumentLifetime {
  return { freshMs: seconds * 1_000, staleMs: staleSeconds * 1_000 }
}
