/** Saved data of a former user that a form shows. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading } from '../support/router-page.ts'
import { browserTest, openComment, otherTab, REFUSED, signIn, signOutElsewhere, visit } from '../support/typed-page.ts'

describe('a form of saved data', () => {
  const fields = (page: Page) =>
    page.evaluate(() => {
      const form = document.querySelector<HTMLFormElement>('#profile')
      return Object.fromEntries(new FormData(form ?? undefined))
    })
  const OF_BOB = { note: 'note of bob', phone: 'phone of bob', plan: 'none' }

  async function bobSignsIn(page: Page): Promise<Page> {
    const other = await otherTab(page, '/stored/sign-in?to=comment')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    return other
  }
  /** What was saved as bob: the router must not make a page save. */
  async function savedByBob(page: Page): Promise<string> {
    await visit(page, '/profile')
    return page.getByTestId('saved').innerText()
  }

  browserTest('shows the next user their own, and saves nothing', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await visit(page, '/profile')
    const other = await bobSignsIn(page)
    await heading(page, 'Profile of bob')
    expect(await fields(page)).toEqual(OF_BOB)
    expect(await savedByBob(other)).not.toContain('bob')
  })

  for (const where of ['in the same tab', 'in another tab']) {
    browserTest(`is empty in a document from the browser’s cache, after signing out ${where}`, async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, '/stored/public', 'ann')
      await visit(page, '/profile')
      await heading(page, 'Profile of ann')
      await visit(page, '/stored/public')
      if (where === 'in another tab') await signOutElsewhere(page, '/stored/public')
      else await page.getByRole('button', { name: 'Sign out' }).click()
      await heading(page, 'Comment of nobody')
      await page.goBack()
      if (new URL(page.url()).pathname !== '/profile') await page.goBack()
      await untilAlive(page)
      await heading(page, 'Profile of nobody')
      await expect.poll(() => fields(page)).toEqual({ note: 'note of nobody', phone: 'phone of nobody', plan: 'none' })
    })
  }

  browserTest('shows it after Back, too, and saves nothing of what the browser has restored', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await visit(page, '/profile')
    await page.getByLabel('phone').fill('another phone of ann')
    await page.getByLabel('mail').uncheck()
    await page.getByLabel('plan').selectOption('none')
    await visit(page, '/stored/public')
    const other = await bobSignsIn(page)
    await page.goBack()
    await untilAlive(page)
    await heading(page, 'Profile of bob')
    await expect.poll(() => fields(page)).toEqual(OF_BOB)
    expect(await savedByBob(other)).not.toMatch(/bob|nobody/)
  })
})
