/**
 * Pages with `cache: 'shared'`: made once, kept, and sent to all visitors.
 *
 * | the document is                  | a request                                                                    |
 * |----------------------------------|------------------------------------------------------------------------------|
 * | kept and fresh                   | gets it                                                                      |
 * | kept and stale                   | gets it; one making replaces it behind the answer                            |
 * | missing                          | waits for the one making, which begins with the first request                |
 * | known to be a visitor's          | is rendered for itself, as a page without `cache`                            |
 *
 * A request for the data of the page, after a click or for a prefetch, is answered by the same rules with the data that the
 * document was made of.
 *
 * A page with functions `visitor` is complete for visitors of whom those read nothing. Others get its shell with slots of
 * their own, and clicks its data with what is the visitor's: `kept-shells.ts`.
 *
 * A making that ends in a refusal, redirect or failure is not kept: those that wait get its answer, and the next request
 * begins another one. A stale document goes on after a failure, and ends with a refusal.
 */
import type { Logger } from 'pino'
import { valueIndex } from '../../http/header-list.ts'
import { mayShareUnderPolicy } from '../../request/answer/host-headers.ts'
import { sendConstantPage } from '../../request/answer/send-plain.ts'
import { textsOf } from '../../request/answer/texts.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import type { KeptDocument } from '../../stores/cache/document-cache.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { isCrawler } from '../render/crawler.ts'
import { servePage, type PageParts } from '../render/serve-page.ts'
import { cachedBody, sendKept } from '../render/send-kept.ts'
import { createAskedPages } from './asked-pages.ts'
import { cacheStatus, statusText, type KeptStatus } from '../../request/answer/cache-status.ts'
import { sendCaptured, type CapturedAnswer } from './captured-answer.ts'
import { DocumentMakings, type AskedData, type Visit } from './document-makings.ts'
import { createKeptShells, type KeptShells } from './kept-shells.ts'
import type { MadeAnswer } from './make-document.ts'
import { VariantChoices } from './variant-choices.ts'
import { createWaitingVisitors } from './waiting-visitors.ts'

/** Makings for which one request waits: each may be dropped, or turn out to be another document. */
const MOST_ROUNDS = 4
const RETRY_SECONDS = 4 // at most, as in `admission.ts`

/** Answers requests for pages with `cache: 'shared'`. */
export interface KeptPages {
  /** @param data set if the data of the page is asked for instead of its document. */
  serve(page: MatchedRoute, context: RequestContext, data?: AskedData): Promise<void> | undefined
}

/** Creates the pages of an application. Nothing is kept at first. */
export function createKeptPages(parts: PageParts & { readonly log: Logger }): KeptPages {
  const { documents } = parts
  const visitors = createWaitingVisitors()
  const makings = new DocumentMakings(parts)
  const shells = createKeptShells(parts)
  const choices = new VariantChoices()
  const askedPage = createAskedPages()

  function serveFound(visit: Visit): Promise<void> | undefined {
    const { asked } = visit
    const found = documents.find(asked)
    if (found === undefined) return serveMissing(visit)
    if ('reason' in found) return servePrivately(parts, visit, found.reason)
    const isStale = found.ageMs > found.freshMs
    if (isStale && found.mayRemake) void makings.renew(visit)
    return sendFound(visit, found, { kind: isStale ? 'stale' : 'hit', ttl: ttlOf(found) })
  }

  /** The document, or its data. */
  function sendFound(visit: Visit, kept: KeptDocument, status: KeptStatus): Promise<void> | undefined {
    const { data } = visit
    const shell = slotsFor(visit, kept)
    if (shell !== undefined && 'reason' in shell) return servePrivately(parts, visit, shell.reason)
    if (shell !== undefined)
      return shells.serve(visit, { kept, shell, status }).then((isOver) => (isOver ? undefined : again(visit)))
    if (data === undefined) return sendDocument(visit, kept, status)
    const send = (answer: KeptDocument | undefined): Promise<void> | undefined =>
      answer === undefined ? servePrivately(parts, visit, 'too large') : sendDocument(visit, answer, status)
    const answer = kept.answer(data.ids.join(' '), data.answer, visit.context.clientAddress.address)
    return answer instanceof Promise ? answer.then(send) : send(answer)
  }

  /** Looks again if a drop may have come between. */
  function sendDocument(visit: Visit, kept: KeptDocument, status: KeptStatus): Promise<void> | undefined {
    const { context } = visit
    const body = cachedBody(kept, context)
    const send = (coded: Buffer | undefined): void => {
      context.record.cache = statusText(status)
      sendKept(kept, coded, context, cacheStatus(status))
    }
    if (!(body instanceof Promise)) return void send(body)
    return body.then((coded) => {
      if (context.aborted !== undefined) return undefined
      return kept.isDropped && !visit.takesDropped ? again(visit) : send(coded)
    })
  }

  function again(visit: Visit): Promise<void> | undefined {
    visit.round += 1
    return visit.round < MOST_ROUNDS ? serveFound(visit) : servePrivately(parts, visit, 'dropped')
  }

  function serveMissing(visit: Visit): Promise<void> | undefined {
    const { context } = visit
    const pending = makings.of(visit)
    const { made, since } = pending ?? makings.begin(visit)
    const over = visitors.wait(context, made)
    if (over === undefined) return void refuse(visit)
    return over.then(async () => {
      if (context.aborted !== undefined) return
      await serveMade(visit, await made, since, pending !== undefined)
    })
  }

  function serveMade(
    visit: Visit,
    { making, answer }: MadeAnswer,
    since: number,
    collapsed: boolean,
  ): Promise<void> | undefined {
    const { asked, context } = visit
    const { kept, usesSoFar: uses } = making
    // The query decides about documents, and it may have become known only now how.
    if (uses.nameOf(asked) !== uses.nameOf(making.asked)) return again(visit)
    if (making.reason !== undefined) return servePrivately(parts, visit, making.reason)
    // An answer of its own would be begun now, and others may drop it, too, before it is sent.
    visit.takesDropped = visit.round === MOST_ROUNDS - 1 && since >= visit.since
    if (!visit.takesDropped && (kept?.isDropped ?? documents.hasDropped(since))) return again(visit)
    if (kept !== undefined) {
      return sendFound(visit, kept, { kind: 'miss', ttl: ttlOf(kept), collapsed, stored: kept.isStored })
    }
    if (answer === undefined || hasOwnFallback(visit, making)) return servePrivately(parts, visit, endOf(answer))
    tell(context, { kind: 'miss', collapsed, stored: false })
    // It was refused before what is not a prefetch.
    if (making.isPrefetch && answer.status === 503 && !context.prefetch) return again(visit)
    if (visit.data === undefined) return sendCaptured(answer, context)
    return sendMadeData(visit.data, answer, making)
  }

  return {
    serve(page, context, data) {
      const visit = newVisit({ page, asked: askedPage(page, context), context, data }, documents.now)
      context.audience.learned = shells.learnedOf(page)
      const answer = (reason: string | undefined): Promise<void> | undefined =>
        reason === undefined ? serveFound(visit) : servePrivately(parts, visit, reason)
      const reason = bypassOf(visit, documents.isHearing, shells) ?? choices.choose(page.route, context)
      return reason instanceof Promise ? reason.then(answer) : answer(reason)
    },
  }
}

function newVisit(request: Omit<Visit, 'round' | 'since' | 'takesDropped'>, since: number): Visit {
  return { ...request, round: 0, since, takesDropped: false }
}

function servePrivately(parts: PageParts, { page, context, data }: Visit, reason: string): Promise<void> | undefined {
  tell(context, { kind: 'bypass', reason })
  // Whatever its loaders say: what makes it private is not known of the next visitor.
  context.audience.guarded = true
  if (data !== undefined) return data.alone()
  return servePage(parts, page, context)
}

/** The shell for a visitor of whom the page reads something, or why there is none; `undefined` for all others. */
function slotsFor({ context, data }: Visit, { slots, isWhole, reads }: KeptDocument): KeptDocument['slots'] {
  const { headers } = context.req
  const isForAll = data === undefined && isWhole && reads?.concern(headers) !== true
  if (slots === undefined || isForAll) return undefined
  return isCrawler(headers['user-agent']) ? { reason: 'crawler' } : slots
}

/** How a making has ended whose answer is not for this visitor. */
function endOf(answer: CapturedAnswer | undefined): string {
  return answer === undefined ? 'failed' : `status ${answer.status}`
}

/** Whether the layouts around a fallback have slots of this visitor. */
function hasOwnFallback({ context, data }: Visit, { slots, reads }: DocumentMaking): boolean {
  return slots.size > 0 && (data !== undefined || reads.concern(context.req.headers))
}

/** Seconds for which it is still fresh; negative if it is stale. */
function ttlOf({ freshMs, ageMs }: KeptDocument): number {
  return Math.floor((freshMs - ageMs) / 1_000)
}

/** Why a request cannot get a kept page. Those with slots are sent to whoever brings a password, too. */
function bypassOf(
  { context: { req, res }, page }: Visit,
  isHearing: boolean,
  shells: KeptShells,
): string | undefined | Promise<string | undefined> {
  if (!isHearing) return 'drops unheard'
  if (!mayShareUnderPolicy(res)) return 'policy'
  if (req.headers.authorization === undefined) return undefined
  return shells.has(page).then((has) => (has ? undefined : 'authorization'))
}

/** Notes how the request is answered, for the log and in `Cache-Status`. */
function tell({ record, res }: RequestContext, status: KeptStatus): void {
  record.cache = statusText(status)
  res.setHeader('Cache-Status', cacheStatus(status))
}

/** Of a making whose document is not kept. */
async function sendMadeData(asked: AskedData, answer: CapturedAnswer, { data }: DocumentMaking): Promise<void> {
  const made = await data
  if (made !== undefined) return asked.sendMade(made)
  // Its loaders have not run.
  const retry = valueIndex(answer.headers, 'retry-after')
  asked.refuse(answer.status, retry === -1 ? [] : answer.headers.slice(retry - 1, retry + 1))
}

/** Too many wait. */
function refuse({ context, data }: Visit): void {
  tell(context, { kind: 'miss', collapsed: false, stored: false })
  context.record.shed = 'places'
  context.record.refused = 'too many wait for pages in the making'
  const texts = textsOf(context)
  const headers = ['Retry-After', String(1 + Math.floor(Math.random() * RETRY_SECONDS))]
  if (data !== undefined) return data.refuse(503, headers)
  sendConstantPage(context, { status: 503, message: texts.overloaded, texts }, headers)
}
