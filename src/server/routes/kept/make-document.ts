import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'pino'
import { valueIndex } from '../../http/header-list.ts'
import { createRandomText } from '../../http/random-text.ts'
import { lateFailure, reportFailure } from '../../request/answer/failure.ts'
import { RequestContext } from '../../request/context.ts'
import { DocumentMaking } from '../../request/document-making.ts'
import { RequestScope } from '../../request/request-scope.ts'
import type { WaitingClients } from '../../request/waiting-clients.ts'
import type { AskedDocument } from '../../stores/cache/document-names.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { servePage, type PageParts } from '../render/serve-page.ts'
import { requestOfNobody, type CapturedAnswer } from './captured-answer.ts'

/** What a making has come to. */
export interface MadeAnswer {
  readonly making: DocumentMaking
  /** A refusal, redirect or failure, for those that wait. */
  readonly answer?: CapturedAnswer | undefined
}

/** The makings of one document, of which one gets a place first. */
export interface MakingGroup {
  /** As in `DocumentMaking`. */
  readonly mayBegin: () => boolean
  /** As in `DocumentMaking`. */
  readonly clients?: WaitingClients
}

/** Makes a document for all visitors. Does not reject. */
export type DocumentMaker = (
  page: MatchedRoute,
  asked: AskedDocument,
  first: RequestContext,
  group: MakingGroup,
) => Promise<MadeAnswer>

/**
 * Creates the maker. What it makes belongs to nobody: its request has no cookies and no headers of a visitor, its own id,
 * signal and deadline, and none of the async context of the request that is first to ask. It takes a place like others.
 */
export function createDocumentMaker(parts: PageParts & { readonly log: Logger }): DocumentMaker {
  const detached = AsyncLocalStorage.snapshot()
  const newNonce = createRandomText('base64')
  const newId = createRandomText('hex')

  async function make(...[page, asked, first, { mayBegin, clients }]: Parameters<DocumentMaker>): Promise<MadeAnswer> {
    const { clientAddress, pathname, search, services, reporter } = first
    const route = page.route.pattern
    const making = new DocumentMaking(asked, first.audience.learned)
    making.mayBegin = mayBegin
    making.clients = clients
    making.isAbandoned = () => first.aborted !== undefined
    making.isPrefetch = first.prefetch
    const { req, res } = requestOfNobody(pathname + search, making.isPrefetch)
    const context = new RequestContext({
      req,
      res,
      pathname,
      search,
      // For the fairness of admission. To read it is to leave.
      clientAddress,
      requestId: newId(),
      log: parts.log,
      newNonce,
      services,
      reporter,
      startedAt: performance.now(),
      making,
    })
    making.onLeave = () => context.abort('gone')
    context.record.route = route
    context.record.kind = 'document'
    const scope = new RequestScope((thrown) => void reportFailure(thrown, context, 'unawaited'))
    try {
      await scope.run(() => servePage(parts, page, context))
    } catch (thrown) {
      making.note('failed')
      context.log.error({ err: thrown, route }, 'a page could not be made for all visitors')
    } finally {
      context.finish()
      scope.fail = lateFailure({ log: parts.log, reporter, record: context.record, clientAddress })
    }
    const { answer } = res
    if (answer !== undefined) {
      const vary = valueIndex(answer.headers, 'vary')
      if (valueIndex(answer.headers, 'set-cookie') !== -1) making.note('set-cookie')
      else if (vary !== -1 && answer.headers[vary] !== 'Accept-Encoding') making.note('vary')
    }
    if (answer === undefined && making.kept === undefined && !making.isOvertaken) making.note('failed')
    return { making, answer }
  }

  return (...asked) => detached(() => make(...asked))
}
