/** Fragments whose element streams in after the page. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { heading } from '../support/router-page.ts'

const MARGIN = 40 // of the fixture

/** Waits until an element is at the top of the window. */
async function isAtTop(page: Page, text: string): Promise<void> {
  const top = () => page.getByText(text, { exact: true }).evaluate((element) => element.getBoundingClientRect().top)
  await expect.poll(async () => Math.round(await top())).toBe(MARGIN)
}

/** Lets the comments of this name stream in. */
async function release(page: Page, origin: string, name: string): Promise<void> {
  await page.request.get(`${origin}/comments?release=${name}`)
  await page.locator('#comment-7').waitFor()
}

/** The page that a link leads to, and one frame more than the router needs. */
async function twoFrames(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
}

const scrolled = (page: Page): Promise<number> => page.evaluate(() => scrollY)

const go = (page: Page, to: string): Promise<void> =>
  page.evaluate((href) => {
    const anchor = document.createElement('a')
    anchor.href = href
    document.body.append(anchor)
    anchor.click()
    anchor.remove()
  }, to)

describe('a fragment whose element streams in', () => {
  browserTest.for([
    ['comment-7', 'comment-7', 'plain'],
    ['gr%C3%BC%C3%9Fe', 'grüße', 'encoded'],
    ['grüße', 'grüße', 'letters'],
    ['with%20space', 'with space', 'space'],
    ['old', 'old', 'anchor'],
  ] as const)('is scrolled to in a document: #%s', async ([hash, text, name], { open, server }) => {
    const page = await open()
    await page.goto(`/comments?name=${name}#${hash}`, { waitUntil: 'commit' })
    await untilAlive(page)
    expect(await scrolled(page)).toBe(0)
    await release(page, server.origin, name)
    await isAtTop(page, text)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(text)
  })

  browserTest('is scrolled to after a click on another page, and the focus follows', async ({ open, server }) => {
    const page = await open()
    await page.goto('/')
    await untilAlive(page)
    await page.mouse.wheel(0, 100)
    await go(page, '/comments?name=click#comment-7')
    await heading(page, 'Comments')
    await expect.poll(() => scrolled(page)).toBe(0)
    await release(page, server.origin, 'click')
    await isAtTop(page, 'comment-7')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('comment-7')
  })

  browserTest('is scrolled to after a click on its own page', async ({ open, server }) => {
    const page = await open()
    await page.goto('/comments?name=own', { waitUntil: 'commit' })
    await untilAlive(page)
    await page.getByRole('link', { name: 'To the seventh' }).click()
    await release(page, server.origin, 'own')
    await isAtTop(page, 'comment-7')
  })

  browserTest.for([
    ['wheel', (page: Page) => page.mouse.wheel(0, 30)],
    ['key', (page: Page) => page.keyboard.press('ArrowDown')],
    ['finger', (page: Page) => page.dispatchEvent('body', 'touchstart')],
    ['scrollbar', (page: Page) => page.evaluate(() => scrollTo({ top: 30, behavior: 'instant' }))],
  ] as const)('leaves a visitor alone who has used the %s', async ([how, act], { open, server }) => {
    const page = await open()
    await page.goto('/')
    await untilAlive(page)
    await go(page, `/comments?name=${how}#comment-7`)
    await heading(page, 'Comments')
    await act(page)
    await release(page, server.origin, how)
    await twoFrames(page)
    expect(await scrolled(page)).toBeLessThan(200)
  })

  browserTest('does not move the page for a link that keeps the scroll', async ({ open, server }) => {
    const page = await open()
    await page.goto('/')
    await untilAlive(page)
    await page.evaluate(() => {
      const anchor = document.createElement('a')
      anchor.href = '/comments?name=quiet#comment-7'
      anchor.dataset['keepScroll'] = 'true'
      document.body.append(anchor)
      anchor.click()
    })
    await heading(page, 'Comments')
    await release(page, server.origin, 'quiet')
    await twoFrames(page)
    expect(await scrolled(page)).toBe(0)
  })

  browserTest('gives way to the position of the history', async ({ open, server }) => {
    const page = await open()
    await page.goto('/comments?name=back#comment-7', { waitUntil: 'commit' })
    await untilAlive(page)
    await release(page, server.origin, 'back')
    await isAtTop(page, 'comment-7')
    await page.evaluate(() => scrollTo({ top: 100, behavior: 'instant' }))
    await go(page, '/mills/1')
    await heading(page, 'Mill 1')
    await page.goBack()
    await heading(page, 'Comments')
    await page.locator('#comment-7').waitFor()
    await twoFrames(page)
    expect(await scrolled(page)).toBe(100)
  })
})

browserTest('a reload comes back to a position in a part that streams in after the load', async ({ open, server }) => {
  const page = await open()
  const name = crypto.randomUUID()
  await page.goto(`/comments?name=${name}`, { waitUntil: 'commit' })
  await untilAlive(page)
  await release(page, server.origin, name)
  await page.locator('#comment-7').evaluate((element) => element.scrollIntoView({ behavior: 'instant' }))
  await twoFrames(page)
  const position = await scrolled(page)
  expect(position).toBeGreaterThan(0)
  // A browser that has given up, as it does where React shows the last part after the load.
  await page.addInitScript(() => {
    history.scrollRestoration = 'manual'
    Object.defineProperty(history, 'scrollRestoration', { get: () => 'auto', set() {} })
  })
  await page.reload({ waitUntil: 'commit' })
  await page.locator('#comment-7').waitFor()
  await expect.poll(() => scrolled(page)).toBe(position)
})
