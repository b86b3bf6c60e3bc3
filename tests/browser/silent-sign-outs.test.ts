/** Tabs of a user who has signed out where no answer of an action tells so. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading } from '../support/router-page.ts'
import { browserTest, openComment, otherTab, REFUSED, signIn, visit } from '../support/typed-page.ts'

/** As a plain form does, or one that is pressed before the page's scripts run. */
async function signOutByHandler(page: Page, kind: string): Promise<void> {
  await page.evaluate((action) => {
    const form = Object.assign(document.createElement('form'), { method: 'post', action })
    document.body.append(form)
    setTimeout(() => form.submit())
  }, `/sign-out/${kind}`)
}

describe.for(['stored', 'sealed', 'named'])('a session that is %s', (kind) => {
  browserTest('is signed out by a handler: the other tab asks at once, also if it is hidden', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, `/${kind}/comment`, 'ann')
    await page.getByLabel('text').fill('half a thought')
    const other = await otherTab(page, '/')
    await signOutByHandler(other, kind)
    await heading(other, 'Home')
    await heading(page, 'Sign in')
    expect(await page.content()).not.toContain('half a thought')
  })
})

browserTest(
  'Back, after signing out by a handler, shows nothing that was typed, on a page that asks nothing',
  async ({ open }) => {
    const page = await open(REFUSED)
    // As for documents with `no-store`: the browser does not keep the page as it was.
    await page.route('**/peek', (route) => route.continue())
    await openComment(page, '/stored/comment', 'ann')
    await visit(page, '/peek')
    await page.locator('[name=ill]').check()
    await signOutByHandler(page, 'stored')
    await heading(page, 'Home')
    // The router's code loads after the page.
    await page.waitForFunction(() => localStorage.getItem('millrace:sessions')?.includes(':-'))
    await page.goBack()
    await heading(page, 'Peek')
    await expect.poll(() => page.locator('[name=ill]').isChecked()).toBe(false)
    // It is still that user's.
    const other = await otherTab(page, '/stored/sign-in?to=comment')
    await signIn(other, 'ann')
    await heading(other, 'Comment of ann')
    await expect.poll(() => page.locator('[name=ill]').isChecked()).toBe(true)
  },
)

browserTest('a redirect to a page that opens no session signs nobody out', async ({ open }) => {
  const page = await open(REFUSED)
  await openComment(page, '/stored/comment', 'ann')
  await page.evaluate(() => document.body.append(Object.assign(document.createElement('p'), { id: 'same' })))
  const other = await otherTab(page, '/')
  const asked = page.waitForResponse((answer) => answer.url().includes('/_m/data/stored/comment'))
  // It signs out of another kind, in which nobody is.
  await signOutByHandler(other, 'named')
  await asked
  await heading(page, 'Comment of ann')
  expect(await page.locator('#same').count()).toBe(1)
})

browserTest('a page asks if its stream is refused, because its session was ended elsewhere', async ({ open }) => {
  const page = await open(REFUSED)
  await openComment(page, '/stored/comment', 'ann')
  await visit(page, '/stored/mail/own')
  await page.getByTestId('stream').getByText('open').waitFor()
  const device = await open(REFUSED)
  await visit(device, '/stored/sign-in?to=comment')
  await signIn(device, 'ann')
  await heading(device, 'Comment of ann')
  await device.getByRole('button', { name: 'End all' }).click()
  await heading(page, 'Mail of nobody')
})
