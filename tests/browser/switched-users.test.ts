/** A user who signs in on the page of another one. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading, hold } from '../support/router-page.ts'
import { browserTest, openComment, REFUSED, visit } from '../support/typed-page.ts'

/** @param to the page to which signing in leads; `''` stays. */
async function answerAs(page: Page, user: string, to: string): Promise<void> {
  await openComment(page, '/stored/comment', user)
  await visit(page, '/peek')
  await page.locator('[name=ill]').check()
  await page.locator('[name=diet][value=vegan]').check()
  await page.locator('[name=to]').evaluate((field, value) => field.setAttribute('value', value), to)
}

const answers = (page: Page) =>
  page.evaluate(() => {
    const form = document.querySelector<HTMLFormElement>('#answers')
    return String(new URLSearchParams([...new FormData(form ?? undefined)].map(([name, one]) => [name, String(one)])))
  })

/** Whose the input on the page's history entry is. */
const ownerOf = (page: Page) => page.evaluate(() => (history.state as Record<string, unknown>)['millrace:owner'])

describe('gets nothing of what the former user has chosen there', () => {
  browserTest('on the page as it is loaded again', async ({ open }) => {
    const page = await open(REFUSED)
    await visit(page, '/peek')
    const untouched = await answers(page)
    await answerAs(page, 'ann', '')
    const ofAnn = await ownerOf(page)
    expect(ofAnn).toBeDefined()
    // As it is when the browser takes it: Firefox restores that after a reload.
    const document = await hold(page, /\/peek$/)
    await page.getByRole('button', { name: 'Sign in as bob' }).click()
    await document.asked
    expect(await answers(page)).toBe(untouched)
    document.release()
    await untilAlive(page)
    await expect.poll(() => answers(page)).toBe(untouched)
  })

  browserTest('nor what components write again while the next document is on its way', async ({ open }) => {
    const page = await open(REFUSED)
    await page.route('**/peek', (route) => route.continue())
    await answerAs(page, 'ann', 'public')
    await page.getByLabel('ticking').fill('of ann')
    const document = await hold(page, /\/stored\/public$/)
    await page.getByRole('button', { name: 'Sign in as bob' }).click()
    await document.asked
    await page.waitForTimeout(300) // the component is rendered some times
    document.release()
    await heading(page, 'Comment of bob')
    await page.goBack()
    await heading(page, 'Peek')
    await untilAlive(page)
    await page.waitForTimeout(500)
    expect(await page.getByLabel('ticking').inputValue()).toBe('')
  })

  browserTest('nor by Back, after an action that leads elsewhere', async ({ open }) => {
    const page = await open(REFUSED)
    await visit(page, '/peek')
    const untouched = await answers(page)
    // As for documents with `no-store`: the browser does not keep the page as it was.
    await page.route('**/peek', (route) => route.continue())
    await page.route('**/stored/public', (route) => route.continue())
    await answerAs(page, 'ann', 'public')
    await page.getByRole('button', { name: 'Sign in as bob' }).click()
    await heading(page, 'Comment of bob')
    await page.goBack()
    await heading(page, 'Peek')
    await untilAlive(page)
    await page.waitForTimeout(500)
    expect(await answers(page)).toBe(untouched)
  })
})
