/** What visitors keep on pages that open no session, when one has ended that the browser still remembers. */
import { isSameDocument } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading, holdAnswers } from '../support/router-page.ts'
import { browserTest, openComment, otherTab, REFUSED, signIn, visit } from '../support/typed-page.ts'

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const shows = (page: Page, id: string, text: string) => page.getByTestId(id).getByText(text, { exact: true }).waitFor()
const choose = (page: Page) => page.locator('#answers [name=ill]').check()
const isChosen = (page: Page) => page.locator('#answers [name=ill]').isChecked()
/** Waits until another document has been loaded: the form is emptied while that one is still on its way. */
const untilReplaced = (page: Page) => page.waitForFunction(() => !('sameDocument' in globalThis))

/** A document that opens no session, with a choice in its form. */
async function openPeek(page: Page): Promise<void> {
  await visit(page, '/peek')
  await choose(page)
}

describe('on a page that opens no session', () => {
  browserTest(
    'nothing is lost when the session turns out to have expired, and a call has its result',
    async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, '/stored/comment', 'ann')
      const hers = await otherTab(page, '/stored/comment')
      await heading(hers, 'Comment of ann')
      await page.context().clearCookies()
      await openPeek(page)
      await press(page, 'Who am I?')
      await shows(page, 'who', 'nobody')
      await press(page, 'Peek')
      await shows(page, 'peeked', 'idle, refused')
      // Her own pages are locked as ever.
      await heading(hers, 'Sign in')
      expect([await isChosen(page), await isSameDocument(page)]).toEqual([true, true])
      // It may have been hers: somebody else does not get it.
      await signIn(hers, 'bob')
      await heading(hers, 'Comment of bob')
      await expect.poll(() => isChosen(page)).toBe(false)
    },
  )

  browserTest('what its user has chosen goes when he signs out there', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await openPeek(page)
    await press(page, 'Sign out')
    await untilReplaced(page)
    expect(await isChosen(page)).toBe(false)
  })

  browserTest('and although another answer says first that nobody is signed in', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await openPeek(page)
    const answers = await holdAnswers(page, /_action=/)
    await press(page, 'Sign out')
    await answers.asked
    await press(page, 'Peek')
    await shows(page, 'peeked', 'idle, refused')
    expect(await isChosen(page)).toBe(true)
    answers.release()
    await untilReplaced(page)
    expect(await isChosen(page)).toBe(false)
  })

  browserTest('a guest goes on when he signs in elsewhere, whoever was there before', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await press(page, 'Sign out')
    await heading(page, 'Sign in')
    await openPeek(page)
    const other = await otherTab(page, '/stored/comment')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await press(page, 'Peek')
    await shows(page, 'peeked', 'bob')
    expect([await isChosen(page), await isSameDocument(page)]).toEqual([true, true])
  })

  browserTest('a session of which another tab has told does not lock it for long when it expires', async ({ open }) => {
    const page = await open(REFUSED)
    await openPeek(page)
    const hers = await otherTab(page, '/stored/sign-in?to=comment')
    await signIn(hers, 'ann')
    await heading(hers, 'Comment of ann')
    await hers.close()
    await page.context().clearCookies()
    // The limit of locked pages does not pass.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 3_600_000)
    const asked = page.waitForRequest((request) => request.isNavigationRequest())
    await press(page, 'Peek')
    await page.clock.runFor(1_000)
    await asked
    await untilReplaced(page)
  })
})
