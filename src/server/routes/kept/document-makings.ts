import type { Logger } from 'pino'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import type { AskedDocument } from '../../stores/cache/document-names.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import type { PageParts } from '../render/serve-page.ts'
import { createDocumentMaker, type MadeAnswer } from './make-document.ts'

/** A request for a page with `cache: 'shared'`. */
export interface Visit {
  readonly page: MatchedRoute
  readonly asked: AskedDocument
  readonly context: RequestContext
  /** Makings that it has waited for. */
  round: number
}

/** A making in progress. */
export interface PendingMaking {
  /** Does not reject. */
  readonly made: Promise<MadeAnswer>
  /** `DocumentCache.now` when it began. */
  readonly since: number
}

/** The makings of a process: one for each document, however many ask. */
export class DocumentMakings {
  readonly #documents: PageParts['documents']
  readonly #make: ReturnType<typeof createDocumentMaker>
  /** By name of the document. Bound: those that wait, and one for each stale document. */
  readonly #pending = new Map<string, PendingMaking>()

  constructor(parts: PageParts & { readonly log: Logger }) {
    this.#documents = parts.documents
    this.#make = createDocumentMaker(parts)
  }

  /** The making that a visit waits for, if it has begun. */
  of({ asked }: Visit): PendingMaking | undefined {
    return this.#pending.get(this.#documents.nameOf(asked))
  }

  /** Begins a making. It belongs to nobody: the visit only names the page. */
  begin({ page, asked, context }: Visit): PendingMaking {
    const name = this.#documents.nameOf(asked)
    const made = this.#make(page, asked, context).then((result) => {
      if (this.#pending.get(name) === pending) this.#pending.delete(name)
      const { making } = result
      if (making.reason !== undefined) this.#tellReason(context, making, making.reason)
      return result
    })
    const pending: PendingMaking = { made, since: this.#documents.now }
    this.#pending.set(name, pending)
    return pending
  }

  /** Replaces a stale document, if nothing does already. It goes on after a failure, and ends with a refusal. */
  async renew(visit: Visit): Promise<void> {
    if (this.of(visit) !== undefined) return
    const { making, answer } = await this.begin(visit).made
    if (making.reason !== undefined || making.kept !== undefined || making.isDropped) return
    if (answer !== undefined && answer.status < 500) this.#documents.remove(visit.asked)
    else this.#documents.postpone(visit.asked)
  }

  #tellReason(context: RequestContext, { asked, usesSoFar }: DocumentMaking, reason: string): void {
    this.#documents.refuse(asked, usesSoFar, reason, clientKey(context.clientAddress.address))
    const { route } = context.record
    context.services.warnOnce(
      `kept ${route}`,
      { route, reason },
      "this page says cache: 'shared' and cannot be kept, so each visitor gets an answer of its own; the reason names what it reads or sets",
    )
  }
}
