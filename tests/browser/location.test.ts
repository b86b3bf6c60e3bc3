import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { JAVASCRIPT } from '../support/browser.ts'
import { handbookTest as browserTest } from '../support/router-app.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { clickLink, hold } from '../support/router-page.ts'

/** What `useLocation` gives. */
const shown = async (page: Page) =>
  JSON.parse((await page.getByTestId('location').textContent()) ?? '') as readonly string[]

/** Names of the links that are marked. */
const marked = (page: Page) => page.getByRole('navigation').locator('[aria-current=page]').allTextContents()

browserTest(
  'useLocation changes with the page, never before, and effects get one location a page',
  async ({ open }) => {
    const page = await open()
    await page.goto('/where?tab=log')
    await untilAlive(page)
    expect(await shown(page)).toEqual(['/where', '?tab=log', ''])
    const held = await hold(page, /_m\/data\/where\/pond/)
    await clickLink(page, 'To the pond')
    await held.asked
    expect(await shown(page)).toEqual(['/where', '?tab=log', ''])
    held.release()
    await expect.poll(() => shown(page)).toEqual(['/where/pond', '?tab=log', '#wheel'])
    expect(await page.evaluate(() => (window as { seen?: string[] }).seen)).toEqual([
      '/where?tab=log',
      '/where/pond?tab=log',
    ])
    await page.goBack()
    await expect.poll(() => shown(page)).toEqual(['/where', '?tab=log', ''])
  },
)

browserTest('useLocation has the fragment once the page is alive, and follows it', async ({ open }) => {
  const page = await open()
  await page.goto('/where#wheel')
  await untilAlive(page)
  await expect.poll(() => shown(page)).toEqual(['/where', '', '#wheel'])
  await page.evaluate(() => (location.hash = 'other'))
  await expect.poll(() => shown(page)).toEqual(['/where', '', '#other'])
  await page.goBack()
  await expect.poll(() => shown(page)).toEqual(['/where', '', '#wheel'])
})

browserTest.for(JAVASCRIPT)('links mark the page on screen, JavaScript $name', async ({ javaScript }, { open }) => {
  const page = await open({ javaScript, allow: [statusComplaint(404)] })
  const visit = async (path: string) => {
    await page.goto(path)
    return marked(page)
  }
  expect(await visit('/')).toEqual(['Home'])
  expect(await visit('/where')).toEqual(['Area', 'Where'])
  expect(await visit('/where?tab=log&tab=other')).toEqual(['Area', 'Where', 'Log'])
  expect(await visit('/where?tab=other')).toEqual(['Area', 'Where'])
  expect(await visit('/where/M%C3%BChle')).toEqual(['Area', 'Mühle'])
  expect(await visit('/wherever')).toEqual([])
  expect(await page.getByTestId('not-found').textContent()).toBe('Nothing at /wherever')
})

browserTest('links that the router follows move the mark, together with the page', async ({ open }) => {
  const page = await open()
  await page.goto('/')
  await untilAlive(page)
  const held = await hold(page, /_m\/data\/where/)
  await clickLink(page, 'Where')
  await held.asked
  expect(await marked(page)).toEqual(['Home'])
  held.release()
  await page.getByRole('heading', { name: 'Where' }).waitFor()
  expect(await marked(page)).toEqual(['Area', 'Where'])
  expect(await isSameDocument(page)).toBe(true)
})

browserTest('a link with scroll={false} leaves scroll and focus where they are', async ({ open }) => {
  const page = await open()
  await page.goto('/where')
  await untilAlive(page)
  const link = page.getByRole('link', { name: 'Log, from here' })
  await link.scrollIntoViewIfNeeded()
  const before = await page.evaluate(() => scrollY)
  expect(before).toBeGreaterThan(0)
  await link.click()
  await expect.poll(() => shown(page)).toEqual(['/where', '?tab=log', ''])
  expect(await page.evaluate(() => scrollY)).toBe(before)
  expect(await link.evaluate((element) => element === document.activeElement)).toBe(true)
})
