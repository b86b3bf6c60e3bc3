/** Calls of a page whose user is not signed in any more, which its tab does not know. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading } from '../support/router-page.ts'
import { openWithoutScripts, take } from '../support/silent-sign-in.ts'
import { browserTest, EMPTY, openComment, REFUSED, texts, write } from '../support/typed-page.ts'

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

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
