import type { Logger } from 'pino'
import type { OpenPromise } from '../../../shared/protocol/value-frames.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import { WaitingClients } from '../../request/waiting-clients.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { DocumentMaking, MadeData } from '../../request/document-making.ts'
import type { KeptDocument } from '../../stores/cache/document-cache.ts'
import type { DocumentData } from '../../stores/cache/document-entries.ts'
import type { KeptBody } from '../../stores/cache/kept-body.ts'
import type { StoredPage, StoredShell } from '../../stores/cache/stored-shell.ts'
import type { AskedDocument } from '../../stores/cache/document-names.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import type { PageParts } from '../render/serve-page.ts'
import { createDocumentMaker, type MadeAnswer } from './make-document.ts'

/** A request for a page with `cache: 'shared'`. */
export interface Visit {
  readonly page: MatchedRoute
  readonly asked: AskedDocument
  readonly context: RequestContext
  /** Absent if the document is asked for. */
  readonly data: AskedData | undefined
  /** Makings that it has waited for. */
  round: number
  /** `DocumentCache.now` when it came. */
  readonly since: number
  /** What it waited for last began after it came, and may be sent although it is dropped. */
  takesDropped: boolean
}

/** How a request for the data of a page is answered. */
export interface AskedData {
  /** Ids of the segments that are asked for, root first. */
  readonly ids: readonly string[]
  /** The answer, of what is kept. */
  answer(data: DocumentData): KeptBody
  /** The same, of a kept shell and what belongs to this visitor. @param headers about it. */
  withSlots(shell: StoredShell, started: StartedSlots, headers: HeaderList): Promise<void>
  /** Sends what a making has come to that cannot be kept. */
  sendMade(data: MadeData): Promise<void>
  /** Sends that there is no data. */
  refuse(status: number, headers: HeaderList): void
  /** Runs the loaders for this visitor. */
  alone(): Promise<void>
}

/** The values of a page with the promises of what belongs to one visitor, and their numbers in its hydration data. */
export interface StartedSlots extends StoredPage {
  readonly open: readonly OpenPromise[]
}

/** A making in progress. */
export interface PendingMaking {
  /** Does not reject. */
  readonly made: Promise<MadeAnswer>
  /** `DocumentCache.now` when it began. */
  readonly since: number
}

/** Reason of a making in which a part has failed. */
const FAILED = 'failed'

/** The making of one document, and the queues of clients in which it waits until it has a place. */
interface Group {
  hasBegun: boolean
  readonly since: number
  /** That of the line that was first to have a place. */
  readonly done: PromiseWithResolvers<MadeAnswer>
  /** All that wait for it: once it has begun, it has its second turn in the line of each. */
  readonly clients: WaitingClients
  /** By client: one that has many answers in progress delays and refuses only itself. */
  readonly lines: Map<string, Promise<MadeAnswer>>
}

/** The makings of a process: one for each document, however many ask. */
export class DocumentMakings {
  readonly #documents: PageParts['documents']
  readonly #make: ReturnType<typeof createDocumentMaker>
  /** By name of the document. Bound: those that wait, and one for each stale document. */
  readonly #pending = new Map<string, Group>()

  constructor(parts: PageParts & { readonly log: Logger }) {
    this.#documents = parts.documents
    this.#make = createDocumentMaker(parts)
  }

  /** The making that a visit waits for, if it has begun, or waits for a place in the line of this client. */
  of(visit: Visit): PendingMaking | undefined {
    const group = this.#pending.get(this.#nameOf(visit))
    if (group === undefined) return undefined
    const { clients, done, hasBegun, lines, since } = group
    if (hasBegun) clients.add(clientOf(visit))
    if (hasBegun) return { made: done.promise, since }
    const line = lines.get(clientOf(visit))
    return line && { made: Promise.race([done.promise, line]), since }
  }

  /** Begins a making. It belongs to nobody: the visit only names the page, and whose line for a place it takes. */
  begin(visit: Visit): PendingMaking {
    const { page, asked, context } = visit
    const name = this.#nameOf(visit)
    const client = clientOf(visit)
    const group: Group = this.#pending.get(name) ?? {
      hasBegun: false,
      since: this.#documents.now,
      done: Promise.withResolvers(),
      clients: new WaitingClients(),
      lines: new Map(),
    }
    this.#pending.set(name, group)
    group.clients.add(client)
    const end = (): void => void (this.#pending.get(name) === group && this.#pending.delete(name))
    let isFirst = false
    const mayBegin = (): boolean => {
      isFirst ||= !group.hasBegun
      group.hasBegun = true
      return isFirst
    }
    const line = this.#make(page, asked, context, { mayBegin, clients: group.clients }).then((result) => {
      group.lines.delete(client)
      if (!isFirst && group.hasBegun) return group.done.promise
      if (isFirst || group.lines.size === 0) end()
      const { making } = result
      if (making.reason !== undefined) this.#tellReason(visit, making, making.reason)
      tellFault(visit, making.kept?.slots)
      if (isFirst) group.done.resolve(result)
      return result
    })
    group.lines.set(client, line)
    return { made: Promise.race([group.done.promise, line]), since: group.since }
  }

  /** A page of which nothing is known yet has one making first; it may turn out that queries make other documents. */
  #nameOf({ asked, round }: Visit): string {
    const name = this.#documents.nameOf(asked)
    return name === asked.page && round > 0 ? `${name} ${JSON.stringify(asked.queries)}` : name
  }

  /** Replaces a stale document, if nothing does already. It goes on after a failure, and ends with a refusal. */
  async renew(visit: Visit): Promise<void> {
    if (this.of(visit) !== undefined) return
    const { making, answer } = await this.begin(visit).made
    // It is refused before what is not a prefetch, and says nothing of the page.
    if (making.isPrefetch && answer?.status === 503) return
    if (making.reason === FAILED) return this.#documents.postpone(visit.asked)
    if (making.reason !== undefined || making.kept !== undefined) return
    if (answer !== undefined && answer.status < 500) this.#documents.remove(visit.asked)
    else this.#documents.postpone(visit.asked)
  }

  #tellReason({ context, page }: Visit, { asked, usesSoFar, stack }: DocumentMaking, reason: string): void {
    // A failure of a part: a stale document goes on, and the next attempt comes soon.
    const isStale = reason === FAILED && !isUnkept(this.#documents.find(asked))
    if (!isStale) this.#documents.refuse(asked, usesSoFar, reason, clientKey(context.clientAddress.address))
    // Not that of a record, which may be of data.
    const route = page.route.pattern
    context.services.warnOnce(
      `kept ${route}`,
      { route, reason, kept: false, stack },
      "this page says cache: 'shared' and cannot be cached, so each visitor gets an answer of its own; the reason names what it reads or sets",
    )
  }
}

function tellFault({ context, page }: Visit, slots: KeptDocument['slots']): void {
  if (slots === undefined || !('reason' in slots)) return
  const route = page.route.pattern
  context.services.warnOnce(
    `shell ${route}`,
    { route, reason: slots.reason },
    'this page has parts for each visitor, and the rest of it cannot be cached for them, so each gets an answer of its own; the reason names what it waits for or contains besides',
  )
}

function isUnkept(found: ReturnType<PageParts['documents']['find']>): boolean {
  return found === undefined || 'reason' in found
}

function clientOf({ context }: Visit): string {
  return clientKey(context.clientAddress.address)
}
