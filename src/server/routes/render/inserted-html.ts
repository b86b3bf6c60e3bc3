import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { HtmlValue } from '../../../shared/html-value.ts'
import type { ServerDocument } from '../../../client/react/server-document.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { RequestContext } from '../../request/context.ts'
import { closeRawText } from './closed-elements.ts'
import { createHtmlMarks, type HtmlMarks } from './html-marks.ts'

/** What components of one document have put beside React's markup. */
export interface InsertedHtml {
  /** For `ServerDocumentContext`. */
  readonly document: ServerDocument
  /** Markup that has been collected since the last call. */
  take(): string
  /** The HTML values that its elements show. */
  readonly html: HtmlMarks
  /** Whether the nonce may be in the document. */
  hasNonce(): boolean
}

const NOTED_CHARACTERS = 80

function noteUnbalanced({ text }: HtmlValue, tag: string, { log, record }: RequestContext): void {
  const beginning = text.slice(0, NOTED_CHARACTERS)
  log.warn(
    { route: record.route, beginning },
    `HTML in a <${tag}> is not balanced, or closes elements around it. The document contains it twice`,
  )
}

/** A failing callback is reported, and the document is sent without what it had to insert, and not kept for others. */
export function createInsertedHtml(context: RequestContext): InsertedHtml {
  const insertions: (() => ReactNode)[] = []
  const state = { hasNonce: false }
  const isNoted = process.env['NODE_ENV'] === 'development'
  const html = createHtmlMarks(isNoted ? (value, tag) => noteUnbalanced(value, tag, context) : undefined)

  function collect(insertion: () => ReactNode): string {
    try {
      const inserted = insertion()
      return inserted === null || inserted === undefined ? '' : renderToStaticMarkup(closeRawText(inserted))
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
      htmlMark: html.markOf,
      insertions,
    },
    html,
    take: () => (insertions.length === 0 ? '' : insertions.map(collect).join('')),
    hasNonce: () => state.hasNonce,
  }
}
