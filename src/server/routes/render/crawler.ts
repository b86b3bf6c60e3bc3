import { isbot } from 'isbot'

/**
 * A bare product name such as `curl/8.5.0`, `node` or `python-requests/2`: a developer's tool, which can wait for a
 * stream.
 */
const BARE_PRODUCT = /^[\w.-]+(?:\/[\w.+-]+)?$/
/** Bare names of crawlers and link previews. */
const CRAWLER_NAME = /bot|crawl|spider|slurp|preview|facebook|whatsapp|embed/i
/** Headless browsers run scripts like any other, so streamed content fills in for them too. */
const HEADLESS = /Headless/

/**
 * Whether a client reads a document once and runs no script: then it gets the whole document at once, with the status
 * that its last boundary decides. `isbot` alone would include every HTTP library and test browser.
 */
export function isCrawler(userAgent: string | undefined): boolean {
  if (userAgent === undefined || HEADLESS.test(userAgent) || !isbot(userAgent)) return false
  return !BARE_PRODUCT.test(userAgent) || CRAWLER_NAME.test(userAgent)
}
