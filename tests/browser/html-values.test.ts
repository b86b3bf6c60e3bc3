/** HTML that a loader has returned, as the page of the lab shows it. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { clickLink, heading, pathOf, recordData, recordDocuments } from '../support/router-page.ts'

const shown = (page: Page) => page.getByTestId('rendered-html')

describe('HTML that a loader has returned', () => {
  browserTest('is what the document had, before and after hydration, by a click and by Back', async ({ open }) => {
    const plain = await open({ javaScript: false })
    await plain.goto('/lab/html/5')
    const html = await shown(plain).innerHTML()
    expect(html).toContain('<a href="#more">')

    const page = await open()
    await page.goto('/lab/html/5')
    const node = await shown(page).locator('h2').elementHandle()
    await untilAlive(page)
    expect(await node?.evaluate(({ isConnected }) => isConnected)).toBe(true)
    expect(await shown(page).innerHTML()).toBe(html)

    const documents = recordDocuments(page)
    await clickLink(page, 'link within the page')
    expect(new URL(page.url()).hash).toBe('#more')
    await clickLink(page, 'Mill 6')
    await heading(page, 'HTML 6')
    expect(await shown(page).locator('h2').textContent()).toBe('About mill 6')
    const data = recordData(page)
    await page.goBack()
    await heading(page, 'HTML 5')
    // The browser moves the focus to where the URL leads.
    expect((await shown(page).innerHTML()).replace(' tabindex="-1"', '')).toBe(html)
    expect([data.filter((path) => !path.endsWith(' ahead')), documents]).toEqual([[], []])
    await page.goForward()
    await heading(page, 'HTML 6')
    expect(await shown(page).locator('a').count()).toBe(6)
  })

  browserTest('keeps what a visitor has opened while its data is loaded again', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/html/5')
    await untilAlive(page)
    await shown(page).locator('summary').click()
    const changes = await shown(page).evaluateHandle((element) => {
      const seen: string[] = []
      const observer = new MutationObserver((records) => seen.push(...records.map(({ type }) => type)))
      observer.observe(element, { subtree: true, childList: true, attributes: true, characterData: true })
      return seen
    })
    // The first answer after a document, then one after another.
    for (let round = 0; round < 2; round += 1) {
      const before = await page.getByTestId('rendered-at').textContent()
      await page.getByTestId('again').click()
      await expect.poll(() => page.getByTestId('rendered-at').textContent()).not.toBe(before)
    }
    expect(await shown(page).locator('details').getAttribute('open')).toBe('')
    expect(await changes.jsonValue()).toEqual([])
  })

  browserTest('has forms that lead where they say, with JavaScript and without', async ({ open }) => {
    for (const javaScript of [true, false]) {
      const page = await open({ javaScript })
      await page.goto('/lab/html/5')
      if (javaScript) await untilAlive(page)
      const documents = recordDocuments(page)
      await page.getByRole('textbox', { name: 'Word' }).fill('wheel & stone')
      await page.getByRole('button', { name: 'Look up' }).click()
      await page.getByTestId('word').getByText('wheel & stone').waitFor()
      expect(pathOf(page)).toBe('/lab/html/5?word=wheel+%26+stone')
      expect(await page.getByRole('textbox', { name: 'Word' }).inputValue()).toBe('wheel & stone')
      expect(documents).toHaveLength(javaScript ? 0 : 1)
    }
  })
})
