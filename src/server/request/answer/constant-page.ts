import { withBasePath } from '../../../shared/base-path.ts'
import { escapeHtml } from '../../../shared/escape-html.ts'
import type { PageTexts } from '../../../shared/texts.ts'
import { ENGLISH, fill } from './texts.ts'
import { STATUS_CODES } from 'node:http'

/** Content of a constant page. */
export interface ConstantPage {
  readonly status: number
  /** One sentence for a person, as text. */
  readonly message?: string
  /** Identifies a failure of ours. */
  readonly digest?: string
  /** Default: English ones. */
  readonly texts?: PageTexts
}

/** Readable at any window size, and in dark mode; a policy names it by its hash. */
export const CONSTANT_PAGE_STYLE =
  ':root{color-scheme:light dark;background:Canvas;color:CanvasText;font:1.0625rem/1.6 system-ui,sans-serif}' +
  'main{max-width:40rem;margin:10vh auto;padding:0 1.5rem;overflow-wrap:anywhere}h1{line-height:1.2}a{margin-right:1rem;color:LinkText}'

/** Other 4xx statuses stay the same for a repeated request. */
const MAY_PASS = new Set([408, 429])

/**
 * A page without React and without the application, for when these have failed or never ran. Visitors
 * read of a failure no more than its digest.
 */
export function constantPage({ status, message, digest, texts = ENGLISH }: ConstantPage): string {
  const title = status >= 500 && digest !== undefined ? texts.serverFailure : titleOf(status, texts)
  const testId = digest === undefined ? '' : ' data-testid="error"'
  return (
    `<!DOCTYPE html><html lang="${escapeHtml(texts.language)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<meta name="robots" content="noindex"><title>${escapeHtml(title)}</title>` +
    `<style>${CONSTANT_PAGE_STYLE}</style></head><body><main>` +
    `<h1${testId}>${escapeHtml(title)}</h1>` +
    (message === undefined ? '' : `<p>${escapeHtml(message)}</p>`) +
    (digest === undefined ? '' : `<p data-testid="digest">${escapeHtml(fill(texts.digest, digest))}</p>`) +
    `<p>${status >= 500 || MAY_PASS.has(status) ? `<a href="">${escapeHtml(texts.again)}</a>` : ''}<a href="${withBasePath('/')}">${escapeHtml(texts.home)}</a></p>` +
    '</main></body></html>'
  )
}

/** Number and name of a status. */
export function titleOf(status: number, { titles }: PageTexts): string {
  return `${status} ${titles[status] ?? STATUS_CODES[status] ?? 'Error'}`
}
