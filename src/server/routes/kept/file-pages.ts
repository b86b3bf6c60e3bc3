import type { Logger } from 'pino'
import type { PageParts } from '../render/serve-page.ts'
import { cachedBody, sendKept } from '../render/send-kept.ts'
import { cacheStatus } from '../../request/answer/cache-status.ts'
import { sendCaptured } from './captured-answer.ts'
import { askedPage } from './asked-pages.ts'
import { BY_QUERY, sendNoFile } from '../resources/handler-file.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import type { AskedData } from './document-makings.ts'
import type { KeptPages } from './kept-pages.ts'
import { createDocumentMaker } from './make-document.ts'

/** Documents whose data may be asked for next; the export makes fewer at one time. Others run their loaders again. */
const MOST_WAITING = 64

/**
 * Creates the pages of an application that is exported: each is made once for all visitors, whatever its entry says. A page
 * that belongs to one visitor, or depends on the query, cannot be a file: it is answered with 501, and `Cache-Status` has
 * the reason. Its data is asked for after its document, and is what that was made of.
 */
export function createFilePages(parts: PageParts & { readonly log: Logger }): KeptPages {
  const make = createDocumentMaker(parts)
  /** By page. */
  const made = new Map<string, DocumentMaking['data']>()

  async function serveData(page: string, data: AskedData): Promise<void> {
    const known = made.get(page)
    made.delete(page)
    if (known === undefined) return data.alone()
    const loaded = await known
    if (loaded === undefined) data.refuse(500, [])
    else await data.sendMade(loaded)
  }

  return {
    async serve(page, context, data) {
      const asked = askedPage(page, context)
      if (data !== undefined) return serveData(asked.page, data)
      const { making, answer } = await make(page, asked, context, { mayBegin: () => true })
      const { kept } = making
      const own = making.slots.size > 0 ? 'visitor' : undefined
      const reason = making.reason ?? own ?? (making.usesSoFar.isEmpty ? undefined : BY_QUERY)
      if (reason !== undefined || (kept === undefined && answer === undefined)) {
        return sendNoFile(context, reason ?? 'failed')
      }
      made.set(asked.page, making.data)
      if (made.size > MOST_WAITING) made.delete(made.keys().next().value ?? '')
      const status = cacheStatus({ kind: 'miss', collapsed: false, stored: false })
      if (kept !== undefined) sendKept(kept, await cachedBody(kept, context), context, status)
      else if (answer !== undefined) await sendCaptured(answer, context)
    },
  }
}
