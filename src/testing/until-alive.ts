/** The parts of Playwright's `Page` that these use. */
export interface BrowserPage {
  waitForFunction(predicate: () => unknown): Promise<unknown>
  evaluate(run: () => unknown): Promise<unknown>
}

/** What these functions use of a window; they run in the page. */
interface PageWindow {
  readonly history: { readonly state: { readonly millrace?: unknown } | null }
  readonly document: { readonly body: EventTarget; querySelector(selector: string): EventTarget | null }
  readonly KeyboardEvent: new (type: string, options: { readonly bubbles: boolean }) => Event
  sameDocument?: boolean
}

// Functions, because a page whose policy refuses `eval` cannot wait for a text.
const hasRouter = (): boolean => (globalThis as unknown as PageWindow).history.state?.millrace !== undefined

/** React hydrates first, at once, what an event meets: here the heading or the whole page. */
function hydrate(): void {
  const page = globalThis as unknown as PageWindow
  const target = page.document.querySelector('h1') ?? page.document.body
  target.dispatchEvent(new page.KeyboardEvent('keyup', { bubbles: true }))
  page.sameDocument = true
}

/**
 * Waits until the client router follows the links of a page that has been loaded, and its heading is hydrated: before
 * that a click loads a document. Marks the document for `isSameDocument`.
 */
export async function untilAlive(page: BrowserPage): Promise<void> {
  await page.waitForFunction(hasRouter)
  await page.evaluate(hydrate)
}

/** Whether no document has been loaded since `untilAlive`, so that the router has shown what is on screen. */
export async function isSameDocument(page: BrowserPage): Promise<boolean> {
  return (await page.evaluate(() => 'sameDocument' in globalThis)) === true
}
