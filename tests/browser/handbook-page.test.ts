import { untilAlive } from 'millrace/testing'
import type { Locator } from 'playwright-core'
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

  browserTest('has the button to copy at the top of its block, where a finger hits it', async ({ open }) => {
    const page = await open({ context: { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true } })
    await page.goto('/docs/actions')
    await untilAlive(page)
    await page.locator('.prose .code > button').first().waitFor()
    const blocks = await page.locator('.prose .code:visible').evaluateAll((all) =>
      all.map((block) => {
        const box = block.querySelector('button')?.getBoundingClientRect()
        const code = block.querySelector('pre')?.getBoundingClientRect()
        const text = document.createRange()
        text.selectNodeContents(block.querySelector('pre > code') ?? block)
        const firstLine = text.getBoundingClientRect().top
        const isAbove = block.matches('figure')
        return {
          isTop: box && code && (isAbove ? box.bottom <= code.top + 1 : Math.abs(box.top - code.top) < 24),
          isBesideText: box && box.bottom <= firstLine + 2,
          isLarge: box && box.width >= 44 && box.height >= 44,
        }
      }),
    )
    expect(blocks.length).toBeGreaterThan(3)
    expect(
      blocks.filter(({ isTop, isBesideText, isLarge }) => isTop !== true || isBesideText !== true || isLarge !== true),
    ).toEqual([])
  })

  browserTest('keeps the search in sight beside a chapter that is far down in the list', async ({ open }) => {
    const page = await open({ context: { viewport: { width: 1280, height: 800 } } })
    await page.goto('/docs/comparison')
    await untilAlive(page)
    const current = page.getByRole('navigation', { name: 'Chapters' }).locator('[aria-current]')
    const inSight = (of: Locator) =>
      of.evaluate((one) => {
        const { top, bottom } = one.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    const scrolled = () => current.evaluate((one) => one.closest('nav')?.parentElement?.scrollTop ?? 0)
    await expect.poll(scrolled).toBeGreaterThan(0)
    expect(await inSight(page.getByRole('searchbox'))).toBe(true)

    await page.goto('/docs')
    const gap = await page.locator('search').evaluate((search) => {
      const field = search.querySelector('form')?.getBoundingClientRect().bottom ?? Infinity
      return (document.querySelector('nav[aria-label="Chapters"]')?.getBoundingClientRect().top ?? 0) - field
    })
    expect(gap, 'between the search and the chapters').toBeGreaterThanOrEqual(24)
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

  browserTest('puts the cells of wide tables below each other on small screens', async ({ open }) => {
    const page = await open({ javaScript: false, context: { viewport: { width: 390, height: 800 } } })
    await page.goto('/docs/observability')
    const row = page.locator('.prose tr', { hasText: 'millrace_kept_pages_total' }).first()
    const cells = await row.locator('td').evaluateAll((all) =>
      all.map((cell) => ({
        left: cell.getBoundingClientRect().left,
        label: getComputedStyle(cell, '::before').content,
      })),
    )
    expect(new Set(cells.map(({ left }) => left)).size).toBe(1)
    expect(cells.map(({ label }) => label)).toEqual(['none', '"type: "', '"labels: "', '"meaning: "'])
    const wide = await page
      .locator('.table-scroll:has(table[style])')
      .evaluateAll((all) => all.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent))
    expect(wide).toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(
      await row
        .locator('td')
        .nth(1)
        .evaluate((cell) => getComputedStyle(cell, '::before').content),
    ).toBe('none')
  })

  browserTest('marks the section that a link names', async ({ open }) => {
    const page = await open({ javaScript: false })
    await page.goto('/docs/observability#section-metrics')
    const outlineOf = (name: string) =>
      page.getByRole('heading', { name, exact: true }).evaluate((heading) => getComputedStyle(heading).outlineStyle)
    expect([await outlineOf('Metrics'), await outlineOf('Health checks')]).toEqual(['solid', 'none'])
  })

  browserTest('marks the section of a link that the router follows, and no other', async ({ open }) => {
    const page = await open()
    await page.goto('/docs/observability#section-metrics')
    await untilAlive(page)
    const marked = page.locator('.prose [data-target]')
    await marked.and(page.getByRole('heading', { name: 'Metrics', exact: true })).waitFor()
    await page.getByRole('link', { name: 'Graceful shutdown' }).click()
    await marked.and(page.getByRole('heading', { name: 'Graceful shutdown' })).waitFor()
    expect(await marked.count()).toBe(1)
  })

  browserTest('prints with its headings, and without what is for a screen', async ({ open }) => {
    const page = await open({ javaScript: false })
    await page.goto(LONG)
    await page.emulateMedia({ media: 'print' })
    const shown = (selector: string) => page.locator(selector).filter({ visible: true }).count()
    expect(await shown('.prose h2 > a')).toBe(await page.locator('.prose h2').count())
    expect([await shown('nav'), await shown('button')]).toEqual([0, 0])
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
