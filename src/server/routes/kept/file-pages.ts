import type { Logger } from 'pino'
import type { PageParts } from '../render/serve-page.ts'
import { sendKept } from '../render/send-kept.ts'
import { cacheStatus } from '../../request/answer/cache-status.ts'
import { sendCaptured } from './captured-answer.ts'
import { askedPage } from './asked-pages.ts'
import { BY_QUERY, sendNoFile } from '../resources/handler-file.ts'
import type { KeptPages } from './kept-pages.ts'
import { createDocumentMaker } from './make-document.ts'

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
        return sendNoFile(context, reason ?? 'failed')
      }
      if (kept !== undefined) sendKept(kept, context, cacheStatus({ kind: 'miss', collapsed: false, stored: false }))
      else if (answer !== undefined) sendCaptured(answer, context)
    },
  }
}
