import { expect } from 'vitest'
import type { Page } from 'playwright-core'
import { browserTest } from '../support/browser.ts'

const field = (page: Page) => page.getByRole('dialog').getByRole('combobox', { name: 'Search the handbook' })
const chosen = (page: Page) => page.getByRole('option', { selected: true })

browserTest(
  'the dialog opens by a key, searches while typing, and leads to a section by arrow keys',
  async ({ open }) => {
    const page = await open({ context: { viewport: { width: 390, height: 800 } } })
    await page.goto('/docs/rules')
    await expect.poll(() => page.keyboard.press('/').then(() => field(page).count())).toBe(1)
    await page.keyboard.type('server sent eve')
    await chosen(page).getByText('Event streams').waitFor()
    expect(await chosen(page).locator('mark').count()).toBeGreaterThan(0)
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'))
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth)
    expect(await wide()).toBe(390)

    const second = await page.getByRole('option').nth(1).getByRole('link', { includeHidden: true }).getAttribute('href')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${second}`)
    expect(await page.getByRole('dialog').count()).toBe(0)
  },
)

browserTest('Ctrl+K opens it too, Escape closes it, and what is typed into the box goes on in it', async ({ open }) => {
  const page = await open()
  await page.goto('/docs')
  await expect.poll(() => page.keyboard.press('Control+k').then(() => field(page).count())).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('searchbox').pressSequentially('coo')
  await expect.poll(() => field(page).inputValue()).toMatch(/^c/)
  await field(page).fill('cookie')
  await page.getByRole('option', { name: /^Cookies of your own/ }).click()
  await page.waitForURL('**/docs/sessions#section-cookies-of-your-own')
})

browserTest('without JavaScript the box is a form, and the page of results has marks', async ({ open }) => {
  const page = await open({ javaScript: false })
  await page.goto('/docs')
  await page.getByRole('searchbox').fill('hydartion')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('heading', { level: 1, name: 'Search: hydartion' }).waitFor()
  const hits = page.getByRole('main').getByRole('listitem')
  expect(await hits.first().getByRole('link').getAttribute('href')).toBe(
    '/docs/how-to#section-fix-a-hydration-mismatch',
  )
  expect(await hits.first().locator('mark').count()).toBeGreaterThan(0)
  await page.goto('/docs/search?q=zzzzqq')
  await page.getByText('Nothing found for “zzzzqq”').waitFor()
})
