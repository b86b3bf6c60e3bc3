import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'

/** Clicks a link without coming near it before: nothing is fetched ahead. */
async function follow(page: Page, href: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement('a')
    link.href = to
    link.dataset['prefetch'] = 'none'
    document.querySelector('main')?.append(link)
    link.click()
    link.remove()
  }, href)
}

/**
 * Opens a page and has React hydrate it to the end, which it does at once for what is clicked. A link that `follow` adds
 * before that would not be what the server sent.
 */
async function openAlive(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.waitForFunction(() => history.state?.millrace !== undefined)
  await page.locator('h1').click()
}

/** Nothing is rendered again just because a second has passed. */
function stopTicking(): void {
  Object.assign(window, { setInterval: () => 0 })
}

const row = (page: Page, table: string, text: string | RegExp) =>
  page.getByTestId(table).getByRole('row').filter({ hasText: text })

describe('the inspector', () => {
  browserTest('says that it needs JavaScript where there is none', async ({ open }) => {
    const page = await open({ javaScript: false })
    await page.goto('/lab/inspector')
    expect(await page.locator('main').textContent()).toContain('needs JavaScript')
    expect(await page.getByTestId('entries').count()).toBe(0)
  })

  browserTest('shows what was visited, and how its state changes with time', async ({ open }) => {
    const page = await open()
    await page.clock.install()
    await openAlive(page, '/lab/cache/1')
    await follow(page, '/lab/cache/2')
    await page.getByRole('heading', { name: 'Key 2' }).waitFor()
    await follow(page, '/lab/inspector')
    const entry = row(page, 'entries', /\/lab\/cache\/\[key\]#page.*"2"/)
    await entry.getByRole('cell', { name: 'reusable' }).waitFor()
    expect(await entry.getByRole('cell').nth(3).textContent()).toBe('60 s')
    const visit = row(page, 'navigations', '/lab/inspector')
    await visit.getByRole('cell', { name: 'push', exact: true }).waitFor()
    await visit.getByText(/^ready \d+ ms, commit \+\d+ ms$/).waitFor()
    await page.clock.fastForward(61_000)
    await entry.getByRole('cell', { name: 'stale' }).waitFor()
    expect(await entry.getByRole('cell').nth(2).textContent()).toMatch(/^6\d s$/)
    await page.clock.fastForward(240_000)
    await entry.getByRole('cell', { name: 'expired' }).waitFor()
  })

  browserTest('shows the navigation that led to it as done, without waiting for the next second', async ({ open }) => {
    const page = await open()
    await page.addInitScript(stopTicking)
    await openAlive(page, '/lab/cache/1')
    await follow(page, '/lab/inspector')
    await row(page, 'navigations', '/lab/cache/1').getByRole('cell', { name: 'commit', exact: true }).waitFor()
  })

  browserTest('shows a prefetch while it runs, and what came of it', async ({ open }) => {
    const page = await open()
    await page.addInitScript(stopTicking)
    await openAlive(page, '/lab/inspector')
    await page.getByTestId('entries').waitFor()
    const held = Promise.withResolvers<void>()
    await page.route(/_m\/data\/lab\/cache/, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('link', { name: 'Reused data' }).hover()
    await row(page, 'queue', '/lab/cache/1').getByRole('cell', { name: 'fetching' }).waitFor()
    await row(page, 'queue', '/lab/cache/1').getByRole('cell', { name: 'intent' }).waitFor()
    await row(page, 'requests', '/lab/cache/1').getByRole('cell', { name: 'in progress' }).waitFor()
    held.resolve()
    await row(page, 'requests', '/lab/cache/1').getByRole('cell', { name: '200' }).waitFor()
    await row(page, 'requests', '/lab/cache/1').getByRole('cell', { name: 'prefetch' }).waitFor()
    await row(page, 'entries', /\/lab\/cache\/\[key\]#page/)
      .getByRole('cell', { name: 'fresh' })
      .waitFor()
    await page.getByTestId('queue').getByText('Nothing is being fetched ahead.').waitFor()
    // What has been shown may be used again: the data, and what the URL is.
    const url = row(page, 'entries', 'path /lab/cache/1')
    await url.getByRole('cell', { name: 'fresh' }).waitFor()
    await follow(page, '/lab/cache/1')
    await page.getByRole('heading', { name: 'Key 1' }).waitFor()
    await page.goBack()
    await url.getByRole('cell', { name: 'reusable' }).waitFor()
    await row(page, 'entries', /\/lab\/cache\/\[key\]#page/)
      .getByRole('cell', { name: 'reusable' })
      .waitFor()
  })
})

describe('a page whose data is unavailable at first', () => {
  browserTest('comes after a click all the same, and is asked for on every visit', async ({ open }) => {
    const page = await open({ allow: [statusComplaint(503)] })
    await openAlive(page, '/lab/cache/1')
    await page.evaluate(() => Object.assign(window, { sameDocument: true }))
    await follow(page, '/lab/flaky/clicked?fail=2')
    await page.getByTestId('attempts').getByText('3', { exact: true }).waitFor()
    await follow(page, '/lab/cache/1')
    await page.getByRole('heading', { name: 'Key 1' }).waitFor()
    await follow(page, '/lab/flaky/clicked?fail=2')
    await page.getByTestId('attempts').getByText('4', { exact: true }).waitFor()
    expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true)
  })
})
