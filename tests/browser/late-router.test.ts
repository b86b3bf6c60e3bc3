import type { Page, Route } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'

const ROUTER = '**/_m/assets/start-router-*.js'

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

/** Loads the page on screen again and keeps the router's code back; gives what lets it come. */
async function reloadWithoutRouter(page: Page): Promise<() => Promise<void>> {
  const held: Route[] = []
  await page.route(ROUTER, (route) => void held.push(route))
  const asked = page.waitForRequest(ROUTER)
  await page.reload()
  await asked
  await page.evaluate(() => Object.assign(window, { sameDocument: true }))
  return async () => {
    for (const route of held) await route.continue()
  }
}

const sameDocument = (page: Page): Promise<boolean> => page.evaluate(() => 'sameDocument' in window)

describe('a page whose router has not come yet', () => {
  browserTest('goes back to the page before as soon as it has', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/cache/1')
    await page.waitForFunction(() => history.state?.millrace !== undefined)
    await page.getByRole('link', { name: '2', exact: true }).click()
    await heading(page, 'Key 2')
    const comes = await reloadWithoutRouter(page)
    await page.goBack()
    expect(new URL(page.url()).pathname).toBe('/lab/cache/1')
    expect(await page.locator('h1').textContent()).toBe('Key 2')
    await comes()
    await heading(page, 'Key 1')
    expect(await sameDocument(page)).toBe(true)
    await page.goForward()
    await heading(page, 'Key 2')
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest('moves to a fragment, and back', async ({ open }) => {
    const page = await open()
    await page.goto('/lab')
    const comes = await reloadWithoutRouter(page)
    await page.getByRole('link', { name: 'Loading data' }).click()
    await comes()
    await page.waitForFunction(() => history.state?.millrace !== undefined)
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0)
    await page.goBack()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest('follows links as documents', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/cache/1')
    await reloadWithoutRouter(page)
    await page.getByRole('link', { name: '2', exact: true }).click()
    await heading(page, 'Key 2')
    expect(await sameDocument(page)).toBe(false)
  })
})

describe('a page whose router does not come', () => {
  browserTest('is alive, and follows links as documents without a word on the console', async ({ open }) => {
    // The browser's own line, which no script can prevent.
    const page = await open({ allow: [/ERR_FAILED/] })
    await page.route(ROUTER, (route) => route.abort())
    await page.goto('/docs')
    await page.getByRole('searchbox').fill('loader')
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Lab', exact: true }).first().click()
    await heading(page, 'Lab')
    expect(await page.evaluate(() => history.state)).toBeNull()
  })
})
