import type { Page } from 'playwright-core'

/** How a page complains of a script that is not what it must be. */
export const INTEGRITY_COMPLAINTS = [
  /^console\.error: .*(?:integrity|digest)/i,
  /^console\.warning: .*integrity mismatch/,
  /^request failed: .*\.js/,
] as const

/** Somebody adds a line to a script on its way. */
export async function tamper(page: Page, url: RegExp): Promise<void> {
  await page.route(url, async (route) => {
    const fetchText = async () => {
      const response = await route.fetch()
      return { response, text: await response.text() }
    }
    const fetched = await fetchText().catch(() => undefined) // the page may be closed meanwhile
    if (fetched === undefined) return
    const { response, text } = fetched
    await route.fulfill({ response, body: `window.tampered = true;${text}` })
  })
}

/** Whether that line has run. */
export function isTampered(page: Page): Promise<boolean> {
  return page.evaluate(() => 'tampered' in window)
}
