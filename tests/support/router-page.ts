/** What tests of the client router do with a page and look at in it. */
import type { Page, Request } from 'playwright-core'

/** Waits for a page by its name. */
export async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

/** Path and query of the address bar. */
export function pathOf(page: Page): string {
  const { pathname, search } = new URL(page.url())
  return pathname + search
}

/** Clicks a link by its whole name. */
export async function clickLink(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
}

/** Paths of pages whose data has been asked for from now on; ` ahead` is put to those of a prefetch. */
export function recordData(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request: Request) => {
    const { pathname, search } = new URL(request.url())
    if (!pathname.startsWith('/_m/data')) return
    const query = search.replace(/[?&]_m=[^&]*/g, '')
    const ahead = request.headers()['purpose'] === 'prefetch' ? ' ahead' : ''
    asked.push(pathname.slice('/_m/data'.length) + query + ahead)
  })
  return asked
}

/** Paths of documents that have been asked for from now on. */
export function recordDocuments(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request: Request) => {
    const { pathname, search } = new URL(request.url())
    if (request.isNavigationRequest()) asked.push(pathname + search)
  })
  return asked
}

/** Lets requests for these URLs wait, from now on. */
interface Hold {
  /** Settles with the first request. */
  readonly asked: Promise<void>
  /** Lets all go that wait or come later. */
  release(): void
}

/** Holds requests back until they are released. */
export async function hold(page: Page, url: RegExp): Promise<Hold> {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    asked.resolve()
    await released.promise
    await route.continue().catch(() => undefined) // given up by its page
  })
  return { asked: asked.promise, release: () => released.resolve() }
}

/** Holds answers of the server back until they are released; `asked` once there is one. */
export async function holdAnswers(page: Page, url: RegExp | string): Promise<Hold> {
  const made = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    const response = await route.fetch()
    made.resolve()
    await released.promise
    await route.fulfill({ response })
  })
  return { asked: made.promise, release: () => released.resolve() }
}

/** The browser that drives tests takes every tab for visible. */
export function setVisible(page: Page, isVisible: boolean): Promise<void> {
  return page.evaluate(
    (state) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state })
      document.dispatchEvent(new Event('visibilitychange'))
    },
    isVisible ? 'visible' : 'hidden',
  )
}
