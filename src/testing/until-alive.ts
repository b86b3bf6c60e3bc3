/** The parts of Playwright's `Page` that these use. */
export interface BrowserPage {
  waitForFunction(expression: string): Promise<unknown>
  evaluate(expression: string): Promise<unknown>
}

/** Whose code React hydrates first, at once: what an event meets, here the heading or the whole page. */
const HYDRATE = `
(document.querySelector('h1') ?? document.body).dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }))
window.sameDocument = true
`

/**
 * Waits until the client router follows the links of a page that has been loaded, and its heading is hydrated: before
 * that a click loads a document. Marks the document for `isSameDocument`.
 */
export async function untilAlive(page: BrowserPage): Promise<void> {
  await page.waitForFunction('history.state?.millrace !== undefined')
  await page.evaluate(HYDRATE)
}

/** Whether no document has been loaded since `untilAlive`, so that the router has shown what is on screen. */
export async function isSameDocument(page: BrowserPage): Promise<boolean> {
  return (await page.evaluate(`'sameDocument' in window`)) === true
}
