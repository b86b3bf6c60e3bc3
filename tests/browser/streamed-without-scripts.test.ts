import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { RESETS, withStyles } from '../support/resets.ts'

/** What the hole of a document says of itself; a pseudo-element is no text of the page. */
function markOf(page: Page): Promise<string> {
  return page
    .locator('template[id*="B:"]')
    .first()
    .evaluate((hole) => `${getComputedStyle(hole, '::before').content} ${hole.getBoundingClientRect().height > 0}`)
}

describe('a streamed document without scripts', () => {
  browserTest('shows what came late, and says in the hole where it is', async ({ open }) => {
    const page = await open({ javaScript: false })
    await page.goto('/lab/stream?delay=100')
    expect(await page.getByTestId('deferred').isVisible()).toBe(true)
    expect(await markOf(page)).toBe('"This part follows at the end of the page." true')
    expect(await page.getByText('on its way').isVisible()).toBe(false)
  })

  browserTest.for(RESETS)('shows it whatever a reset says of hidden elements: %s', async ([, css], { open }) => {
    const page = await open({ javaScript: false })
    await page.route('**/lab/stream*', async (route) => {
      const response = await route.fetch()
      const { 'content-security-policy': _policy, ...headers } = response.headers()
      await route.fulfill({ response, headers, body: withStyles(await response.text(), css) })
    })
    await page.goto('/lab/stream?delay=100')
    expect(await page.getByTestId('deferred').isVisible()).toBe(true)
    expect(await markOf(page)).toBe('"This part follows at the end of the page." true')
    expect(await page.getByText('on its way').isVisible()).toBe(false)
  })

  browserTest.for([
    ['/lab/not-found/late', '404 Not Found'],
    ['/lab/crash/late', 'a server-side exception has occurred. Digest: '],
  ] as const)('says that a part is missing: %s', async ([path, text], { open }) => {
    const page = await open({ javaScript: false })
    await page.goto(path)
    // Not by its text: the library does not look into such an element.
    const notice = page.locator('noscript [role=alert]')
    expect(await notice.isVisible()).toBe(true)
    expect(await notice.textContent()).toContain(text)
  })

  browserTest('has nothing of it where scripts run', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/stream?delay=100')
    await page.getByTestId('deferred').waitFor()
    expect(await page.getByText('follows at the end').count()).toBe(0)
    expect(await page.locator('template[id*="B:"]').count()).toBe(0)
  })
})
