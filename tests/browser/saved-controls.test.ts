/** Controls whose changes are saved at once, and the Back button. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { clickLink, heading } from '../support/router-page.ts'
import { browserTest, visit } from '../support/typed-page.ts'

const saved = (page: Page) => page.getByTestId('saved')

browserTest('what a page has saved by itself is not sent again by Back', async ({ open }) => {
  const page = await open()
  await visit(page, '/settings')
  await page.getByLabel('motto').fill('old')
  await expect.poll(() => saved(page).innerText()).toBe('old')
  await page.getByLabel('news').check()
  await expect.poll(() => saved(page).innerText()).toBe('old, news')
  await clickLink(page, 'Wizard')
  await heading(page, 'Step 1')
  const other = await page.context().newPage()
  await visit(other, '/settings')
  await other.getByLabel('motto').fill('newer')
  await expect.poll(() => saved(other).innerText()).toBe('old, news, newer')
  await page.goBack()
  await heading(page, 'Settings')
  await untilAlive(page)
  expect(await page.getByLabel('motto').inputValue()).toBe('newer')
  // What is typed from now on is saved after everything that Back has sent.
  await page.getByLabel('motto').fill('newest')
  await expect.poll(() => saved(page).innerText()).toBe('old, news, newer, newest')
})

browserTest('what has not been saved is there after Back, and is saved', async ({ open }) => {
  const page = await open({ allow: [/ERR_FAILED/] })
  await visit(page, '/settings')
  const before = await saved(page).innerText()
  await page.route(/_action=/, (route) => route.abort())
  await page.getByLabel('motto').fill('unsent')
  await page.getByText('was not sent').waitFor()
  await page.unroute(/_action=/)
  await clickLink(page, 'Wizard')
  await heading(page, 'Step 1')
  await page.goBack()
  await heading(page, 'Settings')
  await expect.poll(() => page.getByLabel('motto').inputValue()).toBe('unsent')
  await expect.poll(() => saved(page).innerText()).toMatch(new RegExp(`^${before}.*unsent`))
})
