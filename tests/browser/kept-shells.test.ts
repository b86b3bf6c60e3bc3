import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest, type OpenPage } from '../support/browser.ts'

const untilHydrated = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => Object.keys(document).some((key) => key.startsWith('__reactContainer')))

const renderedAt = (page: Page) => page.getByTestId('rendered-at').textContent()
const visitorOf = (page: Page) => page.getByTestId('visitor').textContent()

async function openAs(open: OpenPage, name: string | undefined, javaScript = true): Promise<Page> {
  const page = await open({ javaScript })
  await page.goto('/')
  if (name !== undefined) await page.context().addCookies([{ name: 'visitor', value: name, url: page.url() }])
  return page
}

async function visit(page: Page, path: string): Promise<string> {
  const answer = await page.goto(path)
  return answer?.headers()['cache-status'] ?? ''
}

describe('a kept shell', () => {
  browserTest('has a live slot for each visitor, and a kept part that is the same', async ({ open }) => {
    const path = `/lab/shell/${randomUUID()}?s=600`
    const stranger = await openAs(open, undefined)
    expect(await visit(stranger, path)).toContain('fwd=miss; stored')
    await untilHydrated(stranger)
    expect(await visitorOf(stranger)).toBe('nobody')
    const at = await renderedAt(stranger)
    for (const name of ['ann', 'bob']) {
      const page = await openAs(open, name)
      expect(await visit(page, path)).toContain('hit')
      await untilHydrated(page)
      expect([await visitorOf(page), await renderedAt(page)]).toEqual([name, at])
      await page.getByTestId('greet').click()
      await page.getByRole('button', { name: 'Greet (1)' }).waitFor()
    }
  })

  browserTest('is left and come back to by clicks and Back, each with its slot', async ({ open }) => {
    const key = randomUUID()
    const page = await openAs(open, 'ann')
    await visit(page, `/lab/shell/${key}?s=600`)
    await untilHydrated(page)
    const at = await renderedAt(page)
    const marked = await page.evaluateHandle(() => document.body)
    await page.getByRole('navigation', { name: 'Keys' }).getByRole('link').first().click()
    await page.waitForURL((url) => !url.pathname.endsWith(key))
    await page.getByTestId('visitor').getByText('ann').waitFor()
    expect(await renderedAt(page)).not.toBe(at)
    await page.goBack()
    await page.getByText(String(at)).waitFor()
    expect(await visitorOf(page)).toBe('ann')
    // One document for all of it.
    expect(await page.evaluate((body) => body === document.body, marked)).toBe(true)
  })

  browserTest('is dropped by a form in its kept part', async ({ open }) => {
    const path = `/lab/shell/${randomUUID()}?s=600`
    const page = await openAs(open, 'ann')
    await visit(page, path)
    await untilHydrated(page)
    const at = await renderedAt(page)
    await page.getByTestId('drop').click()
    await expect.poll(() => renderedAt(page)).not.toBe(at)
    expect(await visitorOf(page)).toBe('ann')
  })

  browserTest('shows what a form in its slot has changed, with JavaScript and without', async ({ open }) => {
    const path = `/lab/shell/${randomUUID()}?s=600`
    for (const [javaScript, name] of [
      [true, undefined],
      [true, 'ann'],
      [false, undefined],
      [false, 'bob'],
    ] as const) {
      const page = await openAs(open, name, javaScript)
      await visit(page, path)
      if (javaScript) await untilHydrated(page)
      const at = await renderedAt(page)
      await page.getByLabel('Your name').fill('eve & co')
      await page.getByRole('button', { name: 'Keep the name' }).click()
      await page.getByTestId('visitor').getByText('eve & co').waitFor()
      await visit(page, path)
      expect([await visitorOf(page), await renderedAt(page)]).toEqual(['eve & co', at])
    }
  })

  browserTest('shows its slot without JavaScript, behind the rest', async ({ open }) => {
    const path = `/lab/shell/${randomUUID()}?s=600`
    for (const name of [undefined, 'ann', 'bob']) {
      const page = await openAs(open, name, false)
      await visit(page, path)
      expect(await page.getByTestId('visitor').isVisible()).toBe(true)
      expect(await visitorOf(page)).toBe(name ?? 'nobody')
    }
  })
})
