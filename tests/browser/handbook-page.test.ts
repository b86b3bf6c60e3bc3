import { untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'

const LONG = '/docs/postgres'

describe('a chapter', () => {
  browserTest('has one tab stop for each block that scrolls and none for the others', async ({ open }) => {
    const page = await open({ context: { viewport: { width: 390, height: 800 } } })
    await page.goto(LONG)
    await untilAlive(page)
    const boxes = page.locator('.prose pre:visible, .prose .table-scroll:visible')
    await page.locator('.prose [tabindex="0"]').first().waitFor()
    const stops = await boxes.evaluateAll((all) =>
      all.map((box) => ({ scrolls: box.scrollWidth > box.clientWidth, isStop: box.matches('[tabindex="0"]') })),
    )
    expect(stops.some(({ scrolls }) => scrolls)).toBe(true)
    expect(stops.some(({ scrolls }) => !scrolls)).toBe(true)
    expect(stops.filter(({ scrolls, isStop }) => scrolls !== isStop)).toEqual([])
  })

  browserTest('copies a block of code, without the name of its file', async ({ open }) => {
    const page = await open({ context: { permissions: ['clipboard-read', 'clipboard-write'] } })
    await page.goto(LONG)
    await untilAlive(page)
    const figure = page.locator('.prose figure').first()
    await figure.hover()
    await figure.getByRole('button', { name: 'Copy' }).click()
    await figure.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await figure.locator('pre').textContent())
  })

  browserTest('marks the section on screen in its contents, also for a link into it', async ({ open }) => {
    const page = await open({ context: { viewport: { width: 1280, height: 800 } } })
    await page.goto(`${LONG}#section-write-in-a-transaction`)
    await untilAlive(page)
    const contents = page.getByRole('navigation', { name: 'On this page' })
    const current = contents.locator('[aria-current]')
    await contents.getByRole('link', { name: 'Write in a transaction' }).and(current).waitFor()
    await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }))
    await contents.getByRole('link', { name: 'While the database is down' }).and(current).waitFor()
    expect(await current.count()).toBe(1)
  })

  browserTest('needs no script for package managers and lists, which are folded on small screens', async ({ open }) => {
    const page = await open({ javaScript: false, context: { viewport: { width: 390, height: 800 } } })
    await page.goto(LONG)
    await page.getByLabel('Yarn').check()
    await page.getByText('yarn add pg').waitFor()
    expect(await page.getByText('npm install pg').isVisible()).toBe(false)
    const link = page.getByRole('link', { name: 'Getting started', exact: true })
    expect(await link.isVisible()).toBe(false)
    await page.getByText('All chapters').click()
    expect(await link.isVisible()).toBe(true)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.reload()
    expect(await link.isVisible()).toBe(true)
  })
})

browserTest('a signature of the reference leads to the types that it names', async ({ open }) => {
  const page = await open()
  await page.goto('/docs/reference/server/sessions-and-secrets')
  await untilAlive(page)
  await page.locator('pre').first().getByRole('link', { name: 'SessionOptions' }).click()
  await page.waitForURL(/#section-sessionoptions$/)
  const entries = page.getByRole('navigation', { name: 'Chapters' })
  expect(await entries.getByRole('link', { name: 'sessions and secrets' }).getAttribute('aria-current')).toBe('page')
})
