/** What a tab shows of another user who has signed in elsewhere, on pages whose sessions only `visitor` opens. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading } from '../support/router-page.ts'
import { browserTest, otherTab, visit } from '../support/typed-page.ts'

/** Signs in as another user than before, by a form of another tab. */
async function switchTo(page: Page, user: string): Promise<void> {
  const other = await otherTab(page, '/')
  await other.evaluate((path) => fetch(path, { method: 'POST' }).then((answer) => answer.text()), `/switch/${user}`)
  await other.close()
}

const names = (page: Page) => Promise.all(['around', 'own'].map((id) => page.getByTestId(id).textContent()))

/** Notes what layout and page say at the same time, whenever both say something. */
async function watchNames(page: Page): Promise<() => Promise<readonly string[]>> {
  const seen: string[] = []
  await page.exposeFunction('noteNames', (pair: string) => seen.at(-1) === pair || seen.push(pair))
  const watch = (): void => {
    new MutationObserver(() => {
      const texts = ['around', 'own'].map((id) => document.querySelector(`[data-testid=${id}]`)?.textContent)
      if (texts.every(Boolean)) (window as never as { noteNames(pair: string): void }).noteNames(texts.join(' and '))
    }).observe(document, { childList: true, characterData: true, subtree: true })
  }
  await page.addInitScript(watch)
  await page.evaluate(watch)
  return async () => seen
}

describe('after another user has signed in in another tab', () => {
  browserTest('the next click on a kept page shows nothing of the former user', async ({ open }) => {
    const page = await open()
    await visit(page, '/')
    await switchTo(page, 'ann')
    await visit(page, '/kept/one')
    expect(await names(page)).toEqual(['ann', 'ann'])
    await switchTo(page, 'bob')
    const seen = await watchNames(page)
    await page.getByRole('link', { name: '/kept/two' }).click()
    await heading(page, 'two')
    await expect.poll(() => names(page)).toEqual(['bob', 'bob'])
    expect((await seen()).filter((pair) => pair === 'ann and bob')).toEqual([])
    await page.goBack()
    await heading(page, 'one')
    await expect.poll(() => names(page)).toEqual(['bob', 'bob'])
  })

  browserTest(
    'a page that is not kept shows the new user everywhere, and so does what is come back to',
    async ({ open }) => {
      const page = await open()
      await visit(page, '/')
      await switchTo(page, 'ann')
      await visit(page, '/plain/one')
      expect(await names(page)).toEqual(['ann', 'ann'])
      await switchTo(page, 'bob')
      await page.getByRole('link', { name: '/plain/two' }).click()
      await heading(page, 'two')
      await expect.poll(() => names(page)).toEqual(['bob', 'bob'])
      await page.goBack()
      await heading(page, 'one')
      await expect.poll(() => names(page)).toEqual(['bob', 'bob'])
    },
  )

  browserTest(
    'by a document, a click that needs no request shows nothing of the former user, and neither does the page on screen',
    async ({ open }) => {
      const page = await open()
      await visit(page, '/')
      await switchTo(page, 'ann')
      await visit(page, '/kept/one')
      await page.getByRole('link', { name: '/kept/two' }).click()
      await heading(page, 'two')
      await expect.poll(() => names(page)).toEqual(['ann', 'ann'])
      const other = await otherTab(page, '/')
      await other.evaluate(() => fetch('/switch/bob', { method: 'POST' }).then((answer) => answer.text()))
      await visit(other, '/kept/one')
      await page.bringToFront()
      await expect.poll(() => names(page)).toEqual(['bob', 'bob'])
      await page.goBack()
      await heading(page, 'one')
      await expect.poll(() => names(page)).toEqual(['bob', 'bob'])
    },
  )
})
