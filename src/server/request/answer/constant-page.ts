import { escapeHtml } from '../../../shared/escape-html.ts'
import { STATUS_CODES } from 'node:http'

/** What a constant page says. */
export interface ConstantPage {
  readonly status: number
  /** One sentence for a person, as text. */
  readonly message?: string
  /** Names a failure of ours. */
  readonly digest?: string
}

/**
 * A page without React and without the application, for when these have failed or were never asked. The wording for
 * failures is that of the contract, section 7.
 */
export function constantPage({ status, message, digest }: ConstantPage): string {
  const title = status >= 500 && digest !== undefined ? FAILURE : `${status} ${STATUS_CODES[status] ?? 'Error'}`
  const testId = digest === undefined ? '' : ' data-testid="error"'
  return (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<meta name="robots" content="noindex"><title>${escapeHtml(title)}</title></head><body><main>` +
    `<h1${testId}>${escapeHtml(title)}</h1>` +
    (message === undefined ? '' : `<p>${escapeHtml(message)}</p>`) +
    (digest === undefined ? '' : `<p data-testid="digest">Digest: ${escapeHtml(digest)}</p>`) +
    '</main></body></html>'
  )
}

const FAILURE = 'Application error: a server-side exception has occurred'
