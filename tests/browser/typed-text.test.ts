/** What was typed comes back to the visitor who has typed it, and to nobody else. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { clickLink, heading } from '../support/router-page.ts'
import {
  browserTest,
  EMPTY,
  openComment,
  otherTab,
  REFUSED,
  signIn,
  signOutElsewhere,
  stored,
  texts,
  visit,
  write,
  WRITTEN,
} from '../support/typed-page.ts'

describe('after signing out in another tab, a half-written comment', () => {
  for (const kind of ['stored', 'named']) {
    browserTest(`is there again when the same user signs in on the page (${kind})`, async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, `/${kind}/comment`, 'ann')
      await write(page)
      await signOutElsewhere(page, `/${kind}/comment`)
      await signIn(page, 'ann')
      await heading(page, 'Comment of ann')
      await expect.poll(() => texts(page)).toEqual(WRITTEN)
      expect(await page.locator('main output').textContent()).toBe('half a thought')
    })

    browserTest(`is not there when somebody else signs in on the page (${kind})`, async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, `/${kind}/comment`, 'ann')
      await write(page)
      await signOutElsewhere(page, `/${kind}/comment`)
      await signIn(page, 'bob')
      await heading(page, 'Comment of bob')
      expect(await texts(page)).toEqual(EMPTY)
      // Nor in whatever the tab stores when it is left.
      await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide')))
      expect(await stored(page)).not.toMatch(/half a thought|secret note/)
      await clickLink(page, 'Home')
      await heading(page, 'Home')
      await page.goBack()
      await heading(page, 'Comment of bob')
      expect(await texts(page)).toEqual(EMPTY)
    })
  }

  browserTest('is there again when the same user signs in in the other tab', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await write(page)
    const other = await signOutElsewhere(page, '/stored/comment')
    await heading(page, 'Sign in')
    await signIn(other, 'ann')
    await heading(page, 'Comment of ann')
    await expect.poll(() => texts(page)).toEqual(WRITTEN)
  })

  browserTest('is there again after signing in on a page of its own', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/behind', 'ann')
    await write(page)
    const other = await otherTab(page, '/stored/comment')
    await other.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, 'ann')
    await heading(page, 'Comment of ann')
    await expect.poll(() => texts(page)).toEqual(WRITTEN)
  })

  browserTest('is there again after a document for signing in', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await write(page)
    await signOutElsewhere(page, '/stored/comment')
    await heading(page, 'Sign in')
    await visit(page, '/stored/sign-in?to=comment')
    expect(await stored(page)).not.toMatch(/half a thought/)
    await signIn(page, 'ann')
    await heading(page, 'Comment of ann')
    await expect.poll(() => texts(page)).toEqual(WRITTEN)
  })

  browserTest('is dropped when somebody else signs in in the other tab', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await write(page)
    const other = await signOutElsewhere(page, '/stored/comment')
    await heading(page, 'Sign in')
    await signIn(other, 'bob')
    await heading(page, 'Comment of bob')
    expect(await texts(page)).toEqual(EMPTY)
  })

  browserTest('is dropped where the session is a cookie that names no user', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/sealed/comment', 'ann')
    await write(page)
    await signOutElsewhere(page, '/sealed/comment')
    await signIn(page, 'ann')
    await heading(page, 'Comment of ann')
    expect(await texts(page)).toEqual(EMPTY)
  })
})

describe('a half-written comment', () => {
  browserTest('is there again when the session had ended before it was sent', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'cem')
    await write(page)
    const other = await open(REFUSED)
    await openComment(other, '/stored/comment', 'cem')
    await other.getByRole('button', { name: 'End all' }).click()
    await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await signIn(page, 'cem')
    await heading(page, 'Comment of cem')
    await expect.poll(() => texts(page)).toEqual(WRITTEN)
  })

  for (const kind of ['stored', 'sealed', 'named']) {
    browserTest(`of a visitor who signs in to send it is there after that (${kind})`, async ({ open }) => {
      const page = await open(REFUSED)
      await visit(page, `/${kind}/public`)
      await write(page)
      await page.getByRole('button', { name: 'Send' }).click()
      await signIn(page, 'ann')
      await heading(page, 'Comment of ann')
      await expect.poll(() => texts(page)).toEqual(WRITTEN)
    })
  }

  browserTest('disappears from a page for everybody when somebody else signs in in another tab', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/public', 'ann')
    await write(page)
    const other = await otherTab(page, '/stored/sign-in?to=public')
    await signIn(other, 'bob')
    await heading(page, 'Comment of bob')
    await expect.poll(() => texts(page)).toEqual(EMPTY)
    expect(await page.locator('main output').textContent()).toBe('')
  })
})

describe('by history entry, as browsers do for documents', () => {
  // By its role: typing above a part that is still on its way lets React render it again, and until the streamed one is
  // dropped there are two, one of them hidden.
  const late = (page: Page) => page.getByRole('textbox', { name: 'late' })
  const fill = async (page: Page, text: string): Promise<void> => {
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /draft-keeper/.test(name)),
    )
    await page.getByLabel('name').fill(text)
    await page.getByLabel('message').fill(`${text}\nmore`)
    await page.getByLabel('agree').check()
    await page.getByLabel('blue').check()
    await page.getByLabel('tags').selectOption(['a', 'c'])
    await page.getByLabel('elements').fill(text)
    await page.getByLabel('password').fill(text)
    await page.getByLabel('code').fill(text)
    await late(page).fill(text)
  }
  const contents = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll('main :is(input,textarea,select)')].map((control) =>
        control instanceof HTMLSelectElement
          ? [...control.selectedOptions].map(({ value }) => value).join()
          : control instanceof HTMLInputElement && /checkbox|radio/.test(control.type)
            ? control.checked
            : (control as HTMLInputElement).value,
      ),
    )
  const filled = (text: string) => [text, `${text}\nmore`, true, false, true, 'a,c', text, '', '', text]
  const NOTHING = ['', '', false, true, false, '', '', '', '', '']

  browserTest('each step of a wizard has its text again, in both directions', async ({ open }) => {
    const page = await open()
    await visit(page, '/wizard/1')
    await fill(page, 'one')
    await clickLink(page, 'Next')
    await heading(page, 'Step 2')
    await fill(page, 'two')
    await page.goBack()
    await heading(page, 'Step 1')
    await expect.poll(() => contents(page)).toEqual(filled('one'))
    expect(await page.locator('main output').textContent()).toBe('one')
    await page.goForward()
    await heading(page, 'Step 2')
    await expect.poll(() => contents(page)).toEqual(filled('two'))
    await page.goBack()
    await heading(page, 'Step 1')
    await expect.poll(() => contents(page)).toEqual(filled('one'))
  })

  browserTest('two entries of one path have each their own, and a new one has none', async ({ open }) => {
    const page = await open()
    await visit(page, '/wizard/1')
    await fill(page, 'first')
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    await clickLink(page, 'Wizard')
    await heading(page, 'Step 1')
    await late(page).waitFor()
    expect(await contents(page)).toEqual(NOTHING)
    await fill(page, 'second')
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    await page.goBack()
    await heading(page, 'Step 1')
    await expect.poll(() => contents(page)).toEqual(filled('second'))
    await page.goBack()
    await heading(page, 'Home')
    await page.goBack()
    await heading(page, 'Step 1')
    await expect.poll(() => contents(page)).toEqual(filled('first'))
  })

  browserTest('components have the text that the browser restores with a document', async ({ open }) => {
    const page = await open()
    await visit(page, '/wizard/1')
    await fill(page, 'one')
    await page.goto('about:blank')
    await page.goBack()
    await heading(page, 'Step 1')
    // Not what comes late: React makes it again, because a component above has changed before it is hydrated.
    await expect.poll(async () => (await contents(page)).slice(0, 7)).toEqual(filled('one').slice(0, 7))
    expect(await page.locator('main output').textContent()).toBe('one')
  })

  browserTest('what a form has been reset to is not typed', async ({ open }) => {
    const page = await open()
    await visit(page, '/wizard/1')
    await fill(page, 'one')
    await page.getByRole('button', { name: 'Reset' }).click()
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide')))
    expect(await stored(page)).not.toMatch(/one\\nmore/)
  })

  browserTest('the oldest of many entries are dropped', async ({ open }) => {
    const page = await open()
    await visit(page, '/wizard/1')
    for (let step = 1; step < 24; step += 1) {
      await late(page).fill(`text ${step}`)
      await clickLink(page, 'Next')
      await heading(page, `Step ${step + 1}`)
    }
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide')))
    const kept = [...(await stored(page)).matchAll(/text (\d+)/g)].map(([, step]) => Number(step))
    expect(kept).toEqual(Array.from({ length: 20 }, (_, index) => index + 4))
  })
})
