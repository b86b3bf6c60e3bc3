/** A session that gets a new id while other requests of its browser are on their way with the former one. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading } from '../support/router-page.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { browserTest, openComment, otherTab, visit } from '../support/typed-page.ts'

/** Those that are refused are tried again. */
const RENEWED = { allow: [statusComplaint(401), statusComplaint(503), /ServerFailure/] }

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const said = (page: Page) => page.getByTestId('said').textContent()

async function openRenewed(page: Page, query = ''): Promise<void> {
  await openComment(page, '/stored/comment', 'ann')
  await visit(page, `/renewed${query}`)
  await page.getByLabel('text').fill('half a thought')
}

async function expectStayed(page: Page, user = 'ann'): Promise<void> {
  await heading(page, `Renewed for ${user}`)
  expect(await page.getByLabel('text').inputValue()).toBe('half a thought')
}

describe('the user of a session that gets a new id', () => {
  browserTest('stays signed in beside a page that asks all the time', async ({ open }) => {
    const page = await open(RENEWED)
    await openRenewed(page, '?poll=1')
    await press(page, 'Confirm')
    await expect.poll(() => said(page), { timeout: 10_000 }).toBe(' confirmed')
    await expectStayed(page)
    await page.reload()
    await heading(page, 'Renewed for ann')
  })

  for (const [name, result] of [
    ['Add', 'added'],
    ['Save', 'saved for ann'], // the action itself asks whose it is
  ] as const) {
    browserTest(`gets the results of both calls that were pressed at once: ${name}`, async ({ open }) => {
      const page = await open(RENEWED)
      await openRenewed(page)
      await press(page, 'Confirm')
      await page.waitForTimeout(300) // the id is a new one, and the answer not there
      await press(page, name)
      await expect.poll(() => said(page), { timeout: 10_000 }).toBe(` confirmed ${result}`)
      await expectStayed(page)
    })
  }

  browserTest('stays signed in in another tab, in which a link is pressed meanwhile', async ({ open }) => {
    const page = await open(RENEWED)
    await openRenewed(page)
    const other = await otherTab(page, '/')
    await press(page, 'Confirm')
    await page.waitForTimeout(300)
    await other.evaluate(() => {
      document
        .querySelector('main')
        ?.append(Object.assign(document.createElement('a'), { href: '/renewed', textContent: 'On' }))
    })
    await other.getByRole('link', { name: 'On', exact: true }).click()
    await heading(other, 'Renewed for ann')
    await expect.poll(() => said(page), { timeout: 10_000 }).toBe(' confirmed')
    await expectStayed(page)
  })

  browserTest('has nothing done twice that was done before the session could not be changed', async ({ open }) => {
    const page = await open(RENEWED)
    await openRenewed(page)
    const other = await otherTab(page, '/renewed')
    const before = Number(await page.getByTestId('orders').textContent())
    await press(page, 'Order')
    await page.waitForTimeout(200)
    await press(other, 'Confirm')
    await heading(page, 'The page failed')
    // As long as it would take to be sent again.
    await page.waitForTimeout(2_500)
    await visit(page, '/renewed')
    expect(Number(await page.getByTestId('orders').textContent())).toBe(before + 1)
  })
})
