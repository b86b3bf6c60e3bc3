/** Calls of a page whose user is not signed in any more, which its tab does not know. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading } from '../support/router-page.ts'
import { browserTest, EMPTY, openComment, REFUSED, signIn, texts, write } from '../support/typed-page.ts'

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** As if a document had signed in whose scripts have not run: no tab learns it. */
async function take(session: Page, page: Page): Promise<void> {
  await page.context().addCookies(await session.context().cookies())
}

async function openWithoutScripts(open: (options: { javaScript: false }) => Promise<Page>, user: string) {
  const page = await open({ javaScript: false })
  await page.goto('/stored/sign-in?to=comment')
  await signIn(page, user)
  await heading(page, `Comment of ${user}`)
  return page
}

describe('what the page of another user calls', () => {
  browserTest('is not run, and the page becomes that of the user who is signed in', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await write(page)
    const bobs = await openWithoutScripts(open, 'bob')
    const likes = await bobs.getByTestId('likes').textContent()
    await take(bobs, page)
    await press(page, 'Like')
    await heading(page, 'Comment of bob')
    expect(await page.getByTestId('likes').textContent()).toBe(likes)
    await expect.poll(() => texts(page)).toEqual(EMPTY)
  })

  browserTest('is run if the same user has signed in again', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await take(await openWithoutScripts(open, 'ann'), page)
    await press(page, 'Like')
    await page.getByTestId('likes').getByText(/ann$/).waitFor()
  })
})
