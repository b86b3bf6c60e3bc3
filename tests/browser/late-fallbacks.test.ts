import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { heading } from '../support/router-page.ts'

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)
const spoken = (page: Page) => page.locator('#millrace-announcer').textContent()

describe('a fallback that comes after its page', () => {
  browserTest('has the title of one that comes with it, the focus, and is read out', async ({ open }) => {
    const page = await open({ allow: [/on purpose/] })
    await page.goto('/lab/crash/client')
    await untilAlive(page)
    await page.getByTestId('throw-render').click()
    const name = 'Application error: a client-side exception has occurred'
    await heading(page, name)
    await expect.poll(() => focused(page)).toBe(name)
    expect(await page.title()).toBe('Application error · Millrace')
    await expect.poll(() => spoken(page)).toBe('Application error · Millrace')
    expect(await page.locator('meta[name=robots][content=noindex]').count()).toBe(1)
    // The next page has its own again.
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await expect.poll(() => page.title()).toContain('A React application server')
    expect(await page.locator('meta[name=robots]').count()).toBe(0)
  })

  browserTest('leaves the focus to what is beside it and has it', async ({ open }) => {
    const page = await open({ allow: [/on purpose/] })
    await page.goto('/lab/crash/client')
    await untilAlive(page)
    const link = await page.evaluate(() => {
      const inHeader = document.querySelector<HTMLElement>('header a')
      inHeader?.focus()
      document.querySelector<HTMLElement>('[data-testid=throw-render]')?.click()
      return inHeader?.textContent
    })
    await expect.poll(() => spoken(page)).toBe('Application error · Millrace')
    expect(await focused(page)).toBe(link)
  })

  browserTest('is one of a document too, whose hole was refused', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/not-found/late')
    await page.getByTestId('fallback').waitFor()
    await expect.poll(() => page.title()).toBe('Not found · Millrace')
    await expect.poll(() => focused(page)).toBe('Not found')
    await expect.poll(() => spoken(page)).toBe('Not found · Millrace')
  })
})
