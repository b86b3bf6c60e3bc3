/** Pages of `typed-app`, in a browser. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { statusComplaint } from './page-complaints.ts'
import { editionTest } from './router-app.ts'
import { heading } from './router-page.ts'

/** With a server of the application. */
export const browserTest = editionTest('typed-app')

/** For pages that answer 401. */
export const REFUSED = { allow: [statusComplaint(401)] }

/** Loads a document, and waits until it is alive. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await untilAlive(page)
}

/** Signs in by the form on screen. */
export async function signIn(page: Page, user: string): Promise<void> {
  await heading(page, 'Sign in')
  await page.getByLabel('user').fill(user)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Signs in on a page of its own, which leads to the page at `path`. */
export async function openComment(page: Page, path: string, user: string): Promise<void> {
  const [, kind, target] = path.split('/')
  await visit(page, `/${kind}/sign-in?to=${target}`)
  await signIn(page, user)
  await heading(page, `Comment of ${user}`)
}

/** Types into every field of the comment. */
export async function write(page: Page): Promise<void> {
  // The code that keeps it comes when the first page with a field is on screen.
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => /draft-keeper/.test(name)),
  )
  await page.getByLabel('text').fill('half a thought')
  await page.getByLabel('note').fill('a secret note')
  await page.getByLabel('password').fill('hunter2')
}

/** Values of the fields of the comment. */
export const texts = (page: Page) =>
  Promise.all(['text', 'note', 'about', 'password'].map((label) => page.getByLabel(label).inputValue()))

/** What `texts` returns after `write`; nothing is kept of passwords. */
export const WRITTEN = ['half a thought', 'a secret note', '', '']
/** What `texts` returns of an untouched page. */
export const EMPTY = ['', '', '', '']

/** Everything that the tab stores. */
export const stored = (page: Page) => page.evaluate(() => JSON.stringify({ ...sessionStorage }))

/** Another tab of the browser. */
export async function otherTab(page: Page, path: string): Promise<Page> {
  const other = await page.context().newPage()
  await visit(other, path)
  return other
}

/** Signs out in another tab. */
export async function signOutElsewhere(page: Page, path: string): Promise<Page> {
  const other = await otherTab(page, path)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await other.getByRole('heading', { level: 1, name: /Sign in|Comment of nobody/ }).waitFor()
  return other
}

/** Goes back. Where the browser has restored a former user's input, the router loads the document again. */
export async function backAndAgain(page: Page): Promise<void> {
  // This document may be loaded again, too, also at this moment.
  const leave = () =>
    page
      .evaluate(() => void Object.assign(window, { isHere: setTimeout(() => history.back()) }))
      .then(
        () => true,
        () => false,
      )
  await expect.poll(leave).toBe(true)
  await loadedAgain(page)
}

/** Waits until the router has loaded the document again. */
export async function loadedAgain(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
    return !('isHere' in window) && load?.type === 'reload'
  })
  await untilAlive(page)
}
