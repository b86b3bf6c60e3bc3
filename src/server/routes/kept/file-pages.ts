import type { Logger } from 'pino'
import { sendConstantPage } from '../../request/answer/send-plain.ts'
import type { PageParts } from '../render/serve-page.ts'
import { sendKept } from '../render/send-kept.ts'
import { cacheStatus, type KeptStatus } from './cache-status.ts'
import { sendCaptured } from './captured-answer.ts'
import { askedPage } from './asked-pages.ts'
import type { KeptPages } from './kept-pages.ts'
import { createDocumentMaker } from './make-document.ts'

/** The reason of a page that depends on its search params. */
const BY_QUERY = 'search params'

/**
 * Creates the pages of an application that is exported: each is made once for all visitors, whatever its entry says. A page
 * that belongs to one visitor, or depends on the query, cannot be a file: it is answered with 501, and `Cache-Status` has
 * the reason.
 */
export function createFilePages(parts: PageParts & { readonly log: Logger }): KeptPages {
  const make = createDocumentMaker(parts)
  return {
    async serve(page, context, data) {
      if (data !== undefined) return data.alone()
      const { making, answer } = await make(page, askedPage(page, context), context, () => true)
      const { kept } = making
      const own = making.slots.size > 0 ? 'visitor' : undefined
      const reason = making.reason ?? own ?? (making.usesSoFar.isEmpty ? undefined : BY_QUERY)
      if (reason !== undefined || (kept === undefined && answer === undefined)) {
        const status: KeptStatus = { kind: 'bypass', reason: reason ?? 'failed' }
        return sendConstantPage(context, { status: 501 }, ['Cache-Status', cacheStatus(status)])
      }
      if (kept !== undefined) sendKept(kept, context, cacheStatus({ kind: 'miss', collapsed: false, stored: false }))
      else if (answer !== undefined) sendCaptured(answer, context)
    },
  }
}
