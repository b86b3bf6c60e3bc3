import { isbot } from 'isbot'

/** A bare product name such as `curl/8.5.0`, `node` or `python-requests/2`: a programmer's tool, which can wait for a stream. */
const BARE_PRODUCT = /^[\w.-]+(?:\/[\w.+-]+)?$/
/** Bare names that do belong to crawlers and link previews. */
const CRAWLER_NAME = /bot|crawl|spider|slurp|preview|facebook|whatsapp|embed/i
/** Browsers without a screen run scripts like any other, so the holes of a page fill for them too. */
const HEADLESS = /Headless/

/**
 * Whether a client reads a document once and runs no script: then it gets the whole document at once, with the status
 * that its last hole decides. `isbot` alone would count every HTTP library and test browser among them.
 */
export function isCrawler(userAgent: string | undefined): boolean {
  if (userAgent === undefined || HEADLESS.test(userAgent) || !isbot(userAgent)) return false
  return !BARE_PRODUCT.test(userAgent) || CRAWLER_NAME.test(userAgent)
}
