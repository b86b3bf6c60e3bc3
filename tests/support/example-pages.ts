/** Pages of an installed example, in a browser that fails a test on any complaint of theirs. */
import type { Browser, Page } from 'playwright-core'
import { recordComplaints, unexpectedComplaints } from './page-complaints.ts'

/** Where and how a page is opened. */
interface ExampleVisit {
  readonly browser: Browser
  readonly origin: string
  /** Default `/`. */
  readonly path?: string
  /** Whether the browser runs scripts. Default `true`. */
  readonly javaScript?: boolean
}

/**
 * Opens a page and does something there.
 * @throws {Error} with what the page has complained about: console, failed requests, violations of its policy.
 */
export async function visitExample(
  { browser, origin, path = '/', javaScript = true }: ExampleVisit,
  look: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ baseURL: origin, javaScriptEnabled: javaScript })
  try {
    const complaints = recordComplaints(context, javaScript)
    const page = await context.newPage()
    await page.goto(path)
    await look(page)
    const unexpected = unexpectedComplaints(complaints, [])
    if (unexpected.length > 0) throw new Error(`The page complained:\n${unexpected.join('\n')}`)
  } finally {
    await context.close()
  }
}
