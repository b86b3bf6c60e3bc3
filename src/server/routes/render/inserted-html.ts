import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { ServerDocument } from '../../../client/react/server-document.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { RequestContext } from '../../request/context.ts'

/** What components of one document have put beside React's markup. */
export interface InsertedHtml {
  /** For `ServerDocumentContext`. */
  readonly document: ServerDocument
  /** Markup that has been collected since the last call. */
  take(): string
  /** Whether the nonce may be in the document. */
  hasNonce(): boolean
}

/** A failing callback is reported, and the document is sent without what it had to insert, and not kept for others. */
export function createInsertedHtml(context: RequestContext): InsertedHtml {
  const insertions: (() => ReactNode)[] = []
  const state = { hasNonce: false }

  function collect(insertion: () => ReactNode): string {
    try {
      const inserted = insertion()
      return inserted === null || inserted === undefined ? '' : renderToStaticMarkup(inserted)
    } catch (error) {
      context.making?.note('failed')
      reportFailure(error, context, 'render')
      return ''
    }
  }

  return {
    document: {
      nonce() {
        state.hasNonce = true
        return context.nonce
      },
      insertions,
    },
    take: () => (insertions.length === 0 ? '' : insertions.map(collect).join('')),
    hasNonce: () => state.hasNonce,
  }
}
