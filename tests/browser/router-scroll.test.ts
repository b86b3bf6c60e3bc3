import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest, type OpenPage } from '../support/browser.ts'
import { heading, hold, pathOf } from '../support/router-page.ts'

const SECTION = 'Loading data' // a link of /lab to a part of itself

async function openAlive(open: OpenPage, path: string, allow: readonly RegExp[] = []): Promise<Page> {
  const page = await open({ allow })
  await page.goto(path)
  await untilAlive(page)
  return page
}

async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate((y) => window.scrollTo(0, y), top)
}

async function isAt(page: Page, top: number): Promise<void> {
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(top)
}

/** Follows a link without bringing it into view first. */
async function follow(page: Page, href: string): Promise<void> {
  await page.locator(`main a[href="${href}"]`).first().dispatchEvent('click', { button: 0 })
}

/** Follows a link to a part of the page on screen. @returns where that is. */
async function toSection(page: Page): Promise<number> {
  await page.getByRole('link', { name: SECTION }).dispatchEvent('click', { button: 0 })
  await expect.poll(() => page.evaluate(() => location.hash)).toBe('#data')
  return page.evaluate(() => scrollY)
}

describe('each entry of the history has its own scroll position', () => {
  browserTest('of one page: before a fragment, at it, and where it was scrolled to from there', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await scrollTo(page, 150)
    await toSection(page)
    await scrollTo(page, 333)
    await page.goBack()
    await isAt(page, 150)
    await page.goForward()
    await isAt(page, 333)
  })

  browserTest(
    'of one page, where the browser tells of a fragment only when it has scrolled there',
    async ({ open }) => {
      const page = await open()
      // As Safari does it.
      await page.addInitScript(() => {
        Object.defineProperty(window, 'navigation', { value: undefined })
        addEventListener(
          'popstate',
          () => location.hash && document.querySelector(location.hash)?.scrollIntoView(),
          true,
        )
      })
      await page.goto('/lab')
      await untilAlive(page)
      await scrollTo(page, 150)
      const section = await toSection(page)
      await page.goBack()
      await isAt(page, 150)
      await page.goForward()
      await isAt(page, section)
    },
  )

  browserTest('of one page, back through another one', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await scrollTo(page, 150)
    const section = await toSection(page)
    await follow(page, '/lab/cache/1')
    await heading(page, 'Key 1')
    await page.goBack()
    await heading(page, 'Lab')
    await isAt(page, section)
    await page.goBack()
    await isAt(page, 150)
  })

  browserTest('of one page, where a script has made the second entry', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    for (const [at, state] of [
      [150, 'null'],
      [300, '{ ...history.state, dialog: true }'], // as some do who want to keep what is there
    ] as const) {
      await scrollTo(page, at)
      await page.evaluate(`history.pushState(${state}, '', '?at=${at}')`)
    }
    await scrollTo(page, 450)
    await follow(page, '/lab/cache/1')
    await heading(page, 'Key 1')
    for (const at of [450, 300, 150]) {
      await page.goBack()
      await heading(page, 'Lab')
      await isAt(page, at)
    }
  })

  browserTest('back to a slow page and forward again: nothing has moved', async ({ open }) => {
    const page = await open()
    await page.clock.install()
    await page.goto('/docs')
    await untilAlive(page)
    await page.locator('header').getByRole('link', { name: 'Lab' }).click()
    await heading(page, 'Lab')
    await scrollTo(page, 400)
    await follow(page, '/lab/cache/1')
    await heading(page, 'Key 1')
    await page.goBack()
    await isAt(page, 400)
    await scrollTo(page, 600)
    await page.clock.fastForward(301_000) // what is known of the first page is too old to be shown
    const slow = await hold(page, /\/_m\/data\/docs/)
    await page.evaluate(() => history.back())
    await slow.asked
    expect(pathOf(page)).toBe('/docs')
    await page.evaluate(() => history.forward())
    await expect.poll(() => pathOf(page)).toBe('/lab')
    expect(await page.evaluate(() => scrollY)).toBe(600)
    slow.release()
  })

  browserTest(
    'back to a slow page, while the one that is still there fails: that page keeps its own',
    async ({ open }) => {
      const page = await open({ allow: [/on purpose/] })
      await page.clock.install()
      await page.goto('/docs/routes')
      await untilAlive(page)
      await scrollTo(page, 700)
      await page.evaluate(() => {
        const link = Object.assign(document.createElement('a'), { href: '/lab/crash/client' })
        document.querySelector('main')?.append(link)
      })
      await follow(page, '/lab/crash/client')
      await page.getByTestId('throw-render').waitFor()
      await page.clock.fastForward(301_000) // what is known of the first page is too old to be shown
      const slow = await hold(page, /\/_m\/data\/docs\/routes/)
      await page.evaluate(() => history.back())
      await slow.asked
      await page.getByTestId('throw-render').click()
      await heading(page, 'Application error: a client-side exception has occurred')
      await page.evaluate(() => history.forward())
      await expect.poll(() => pathOf(page)).toBe('/lab/crash/client')
      slow.release()
      await page.goBack()
      await heading(page, 'Routes and params')
      await isAt(page, 700)
    },
  )

  browserTest('back to a page that must come as a document, because the server has another build', async ({ open }) => {
    const page = await openAlive(open, '/lab', [/409/])
    await scrollTo(page, 700)
    await follow(page, '/lab/cache/1')
    await heading(page, 'Key 1')
    await scrollTo(page, 5)
    await page.route(/\/_m\/data\//, (route) => route.fulfill({ status: 409, headers: { 'X-Millrace-Build': 'next' } }))
    const told = page.waitForResponse(/\/_m\/data\/lab\/cache\/2/)
    await page.getByRole('link', { name: '2', exact: true }).focus()
    await told
    await page.evaluate(() => fetch('/healthz')) // behind that answer
    await Promise.all([page.waitForEvent('load'), page.evaluate(() => history.back())])
    await heading(page, 'Lab')
    await isAt(page, 700)
    expect(await isSameDocument(page)).toBe(false)
  })
})
