import type { Page, Request } from 'playwright-core'
import type { OpenPage } from './browser.ts'

/** Requests for route data that a page has made, as paths of pages; those made ahead are marked. */
export function recordData(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request: Request) => {
    const { pathname, search } = new URL(request.url())
    if (!pathname.startsWith('/_m/data')) return
    const query = search.replace(/[?&]_m=[^&]*/g, '')
    asked.push(
      pathname.slice('/_m/data'.length) + query + (request.headers()['purpose'] === 'prefetch' ? ' ahead' : ''),
    )
  })
  return asked
}

/** Opens a page whose links the client router follows, and marks its document. */
export async function openAlive(open: OpenPage, path: string, allow: readonly RegExp[] = []): Promise<Page> {
  const page = await open({ allow })
  await page.goto(path)
  await page.waitForFunction(() => history.state?.millrace !== undefined)
  // React hydrates at once what is clicked: elements that a test adds must come after that.
  await page.locator('h1').first().click()
  await page.evaluate(() => Object.assign(window, { sameDocument: true }))
  return page
}

/** Whether the document of `openAlive` is still on screen. */
export function sameDocument(page: Page): Promise<boolean> {
  return page.evaluate(() => 'sameDocument' in window)
}

/** Clicks a link without coming near it before: nothing is fetched ahead. */
export async function follow(page: Page, href: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement('a')
    link.href = to
    link.dataset['prefetch'] = 'none'
    document.querySelector('main')?.append(link)
    link.click()
    link.remove()
  }, href)
}

/** Waits for the heading of a page. */
export const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
