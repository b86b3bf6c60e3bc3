import { withBasePath } from '../../../shared/base-path.ts'
import { escapeHtml } from '../../../shared/escape-html.ts'
import { STATUS_CODES } from 'node:http'

/** Content of a constant page. */
export interface ConstantPage {
  readonly status: number
  /** One sentence for a person, as text. */
  readonly message?: string
  /** Identifies a failure of ours. */
  readonly digest?: string
}

/** Readable at any window size, and in dark mode; a policy names it by its hash. */
export const CONSTANT_PAGE_STYLE =
  ':root{color-scheme:light dark;background:Canvas;color:CanvasText;font:1.0625rem/1.6 system-ui,sans-serif}' +
  'main{max-width:40rem;margin:10vh auto;padding:0 1.5rem;overflow-wrap:anywhere}h1{line-height:1.2}a{margin-right:1rem;color:LinkText}'

/** Other 4xx statuses stay the same for a repeated request. */
const MAY_PASS = new Set([408, 429])

/**
 * A page without React and without the application, for when these have failed or never ran. The wording for failures
 * is in the contract, section 7.
 */
export function constantPage({ status, message, digest }: ConstantPage): string {
  const title = status >= 500 && digest !== undefined ? FAILURE : `${status} ${STATUS_CODES[status] ?? 'Error'}`
  const testId = digest === undefined ? '' : ' data-testid="error"'
  return (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<meta name="robots" content="noindex"><title>${escapeHtml(title)}</title>` +
    `<style>${CONSTANT_PAGE_STYLE}</style></head><body><main>` +
    `<h1${testId}>${escapeHtml(title)}</h1>` +
    (message === undefined ? '' : `<p>${escapeHtml(message)}</p>`) +
    (digest === undefined ? '' : `<p data-testid="digest">Digest: ${escapeHtml(digest)}</p>`) +
    `<p>${status >= 500 || MAY_PASS.has(status) ? '<a href="">Try again</a>' : ''}<a href="${withBasePath('/')}">Home</a></p>` +
    '</main></body></html>'
  )
}

const FAILURE = 'Application error: a server-side exception has occurred'
