/** What was typed, and the next user of the tab. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { statusComplaint } from '../support/page-complaints.ts'
import { clickLink, heading, hold } from '../support/router-page.ts'
import {
  browserTest,
  EMPTY,
  openComment,
  otherTab,
  REFUSED,
  signIn,
  signOutElsewhere,
  texts,
  visit,
  write,
  WRITTEN,
} from '../support/typed-page.ts'

describe('the next user of the tab does not read', () => {
  const message = (page: Page) => page.getByLabel('message').inputValue()

  /** Types on a page that opens no session, and leaves it. */
  async function writeOnWizard(page: Page): Promise<void> {
    await heading(page, 'Step 1')
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /draft-keeper/.test(name)),
    )
    await page.getByLabel('late').waitFor()
    await page.getByLabel('message').fill('half a thought')
    await clickLink(page, 'Home')
    await heading(page, 'Home')
  }

  /** Back to the page of `writeOnWizard`, once all of its fields are there. */
  async function backToWizard(page: Page): Promise<void> {
    await page.goBack()
    await heading(page, 'Step 1')
    await page.getByLabel('late').waitFor()
  }

  for (const kind of ['stored', 'sealed', 'named']) {
    browserTest(
      `what was typed on a page without a session, after a change in another tab (${kind})`,
      async ({ open }) => {
        const page = await open(REFUSED)
        await openComment(page, `/${kind}/comment`, 'ann')
        await clickLink(page, 'Wizard')
        await writeOnWizard(page)
        const other = await signOutElsewhere(page, `/${kind}/comment`)
        await signIn(other, 'bob')
        await heading(other, 'Comment of bob')
        await backToWizard(page)
        expect(await message(page)).toBe('')
      },
    )
  }

  browserTest('what was typed in a document without a session', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await visit(page, '/wizard/1')
    await writeOnWizard(page)
    // Nobody tells this tab: its document is not there.
    await page.goto('about:blank')
    const other = await signOutElsewhere(page, '/stored/comment')
    await other.close()
    await visit(page, '/stored/sign-in?to=comment')
    await signIn(page, 'bob')
    await heading(page, 'Comment of bob')
    for (const title of ['Sign in', '', 'Home']) {
      await page.goBack()
      if (title !== '') await heading(page, title)
    }
    await backToWizard(page)
    expect(await message(page)).toBe('')
  })

  browserTest('what was typed in a tab that has never known its user', async ({ open }) => {
    const page = await open(REFUSED)
    const other = await page.context().newPage()
    await openComment(other, '/stored/comment', 'ann')
    await visit(page, '/wizard/1')
    await writeOnWizard(page)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await backToWizard(page)
    expect(await message(page)).toBe('')
  })

  for (const kind of ['stored', 'named']) {
    browserTest(`what was typed for a user, as nobody, and the user reads it again (${kind})`, async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, `/${kind}/public`, 'ann')
      await write(page)
      await clickLink(page, 'Wizard')
      await writeOnWizard(page)
      await visit(page, `/${kind}/public`)
      await write(page)
      const other = await signOutElsewhere(page, `/${kind}/public`)
      // Nor on the page on screen.
      await expect.poll(() => texts(page)).toEqual(EMPTY)
      await visit(page, '/')
      await visit(page, `/${kind}/public`)
      await heading(page, 'Comment of nobody')
      expect(await texts(page)).toEqual(EMPTY)
      await page.getByLabel('about').fill('of nobody')
      await visit(other, `/${kind}/sign-in?to=public`)
      await signIn(other, 'ann')
      await heading(other, 'Comment of ann')
      await expect.poll(() => texts(page)).toEqual(['half a thought', 'a secret note', 'of nobody', ''])
    })

    browserTest(`what was typed for a user, by Back, after signing out in this tab (${kind})`, async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, `/${kind}/public`, 'ann')
      await write(page)
      await clickLink(page, 'Wizard')
      await writeOnWizard(page)
      await backToWizard(page)
      expect(await message(page)).toBe('half a thought')
      await page.goBack()
      await heading(page, 'Comment of ann')
      await expect.poll(() => texts(page)).toEqual(WRITTEN)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await heading(page, 'Comment of nobody')
      expect(await texts(page)).toEqual(EMPTY)
      await page.goForward()
      await heading(page, 'Step 1')
      await page.getByLabel('late').waitFor()
      expect(await message(page)).toBe('')
      await page.goBack()
      await heading(page, 'Comment of nobody')
      expect(await texts(page)).toEqual(EMPTY)
    })
  }

  browserTest(
    'what is on the screen, where a cookie that names no user is replaced in another tab',
    async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, '/sealed/comment', 'ann')
      await write(page)
      const other = await otherTab(page, '/sealed/sign-in?to=comment')
      await signIn(other, 'bob')
      await heading(page, 'Comment of bob')
      expect(await texts(page)).toEqual(EMPTY)
    },
  )
})

describe('what components hold of a former user', () => {
  for (const kind of ['stored', 'sealed', 'named']) {
    browserTest(`is gone with the first navigation of the next one (${kind})`, async ({ open }) => {
      const page = await open(REFUSED)
      await openComment(page, `/${kind}/comment`, 'ann')
      const isSame = () => page.evaluate(() => Reflect.get(window, 'isFormers') === true)
      await page.evaluate(() => Reflect.set(window, 'isFormers', true))
      await clickLink(page, 'Home')
      await heading(page, 'Home')
      expect(await isSame()).toBe(true)
      await page.goBack()
      await heading(page, 'Comment of ann')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await signIn(page, 'bob')
      await heading(page, 'Comment of bob')
      await clickLink(page, 'Home')
      await heading(page, 'Home')
      await expect.poll(isSame).toBe(false)
    })
  }
})

describe('a call that could not be sent', () => {
  const likes = (page: Page) => page.getByTestId('likes')
  const unsent = (page: Page) => page.getByRole('status').filter({ hasText: 'was not sent' })

  /** Likes while this tab alone cannot reach the site. @returns ends that. */
  async function likeInVain(page: Page): Promise<() => Promise<void>> {
    await page.waitForFunction(() => {
      const names = performance.getEntriesByType('resource').map(({ name }) => name)
      return ['draft-keeper', 'call-troubles'].every((code) => names.some((name) => name.includes(code)))
    })
    const isCallOrLook = /_action=|build\.json/
    await page.route(isCallOrLook, (route) => route.abort('internetdisconnected'))
    await page.getByRole('button', { name: 'Like' }).click()
    await unsent(page).waitFor()
    return async () => {
      await page.unroute(isCallOrLook)
      await page.evaluate(() => window.dispatchEvent(new Event('online')))
    }
  }

  for (const kind of ['stored', 'sealed', 'named']) {
    browserTest(`is not sent for the user who signs in next, in another tab (${kind})`, async ({ open }) => {
      const page = await open({ allow: [...REFUSED.allow, /ERR_INTERNET_DISCONNECTED/] })
      await openComment(page, `/${kind}/comment`, 'ann')
      const heal = await likeInVain(page)
      const other = await signOutElsewhere(page, `/${kind}/comment`)
      await unsent(page).waitFor({ state: 'detached' })
      const next = `bob with ${kind}`
      await signIn(other, next)
      await heading(other, `Comment of ${next}`)
      await heal()
      await heading(page, `Comment of ${next}`)
      // A like of bob's own is the only one.
      await other.getByRole('button', { name: 'Like' }).click()
      await expect.poll(() => likes(other).innerText()).toContain(next)
      expect((await likes(other).innerText()).split(next)).toHaveLength(2)
    })
  }

  for (const next of ['nobody', 'bob'] as const) {
    browserTest(`that waits for its turn is not sent for ${next}`, async ({ open }) => {
      const page = await open({ allow: [...REFUSED.allow, statusComplaint(503)] })
      await openComment(page, '/stored/comment', 'ann')
      const refused: string[] = []
      await page.route(/_action=/, async (route) => {
        refused.push(route.request().url())
        await route.fulfill({ status: 503, headers: { 'Retry-After': '3' } })
      })
      await page.getByRole('button', { name: 'Like' }).click()
      await expect.poll(() => refused.length).toBe(1)
      const other = await signOutElsewhere(page, '/stored/comment')
      if (next === 'bob') {
        await signIn(other, 'bob')
        await heading(other, 'Comment of bob')
        await heading(page, 'Comment of bob')
      } else await heading(page, 'Sign in')
      await page.waitForTimeout(4_000)
      expect(await unsent(page).count()).toBe(0)
      expect(refused).toHaveLength(1)
    })
  }
})

browserTest(
  'a call in progress does not keep its user’s page on screen after a sign-out in another tab',
  async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    const held = await hold(page, /_action=/)
    await page.getByRole('button', { name: 'Like' }).click()
    await held.asked
    await signOutElsewhere(page, '/stored/comment')
    await heading(page, 'Sign in')
    held.release()
    await heading(page, 'Sign in')
  },
)

describe('a page that the browser has kept as it was, which', () => {
  const isHidden = () => getComputedStyle(document.documentElement).display === 'none'

  /** What a page hears when it is left; the browser of these tests keeps no pages. @returns whether it is hidden then. */
  async function leave(page: Page): Promise<boolean> {
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
    return page.evaluate(isHidden)
  }

  /** What it hears when it is brought back. */
  const comeBack = (page: Page) =>
    page.evaluate(() => void setTimeout(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))))

  for (const kind of ['stored', 'sealed', 'named']) {
    browserTest(`a user has left by signing out is hidden, and loaded again (${kind})`, async ({ open }) => {
      const page = await open({ allow: [...REFUSED.allow, /^left the machine: GET https:\/\/accounts/] })
      await page.route('https://accounts.example/', (route) => route.fulfill({ status: 204 }))
      await openComment(page, `/${kind}/comment`, 'ann')
      await write(page)
      const left = page.waitForResponse('https://accounts.example/')
      await page.getByRole('button', { name: 'Leave for good' }).click()
      await left
      expect(await leave(page)).toBe(true)
      const loaded = page.waitForEvent('load')
      await comeBack(page)
      await loaded
      await heading(page, 'Sign in')
      expect(await page.evaluate(isHidden)).toBe(false)
    })
  }

  browserTest('a user has left who is still signed in is shown as it was', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, '/stored/comment', 'ann')
    await write(page)
    const loads: unknown[] = []
    page.on('load', (one) => loads.push(one))
    expect(await leave(page)).toBe(false)
    const asked = page.waitForResponse(/\/_m\/data\//)
    await comeBack(page)
    await asked
    await heading(page, 'Comment of ann')
    expect([loads, await texts(page)]).toEqual([[], ['half a thought', 'a secret note', '', 'hunter2']])
  })
})
