import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, pathOf } from '../support/router-page.ts'

/** Where the address bar is among the entries of the tab. */
const position = (page: Page): Promise<{ index: number; length: number }> =>
  page.evaluate(() => ({ index: Number(history.state.millrace.index), length: history.length }))

const travel = (page: Page, delta: number): Promise<void> => page.evaluate((by) => history.go(by), delta)

const blocked = (page: Page, text: string) => page.getByTestId('blocked').getByText(text, { exact: true })

/** Goes to the editor by way of two other pages, and from there on to a fourth and back. */
async function openEditor(open: OpenPage): Promise<Page> {
  const page = await open()
  await page.goto('/')
  await untilAlive(page)
  await clickLink(page, '/mills/1')
  await heading(page, 'Mill 1')
  await clickLink(page, '/editor')
  await heading(page, 'Editor')
  await clickLink(page, '/mills/2')
  await heading(page, 'Mill 2')
  await page.goBack()
  await heading(page, 'Editor')
  await page.getByLabel('Text').fill('unsaved')
  return page
}

describe('a page with something unsaved', () => {
  browserTest('holds a click back until the visitor has decided', async ({ open }) => {
    const page = await openEditor(open)
    const before = await position(page)
    await clickLink(page, '/mills/1')
    await blocked(page, 'push /mills/1').waitFor()
    expect(pathOf(page)).toBe('/editor')
    await page.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    expect(await position(page)).toEqual(before)
    expect(await page.getByLabel('Text').inputValue()).toBe('unsaved')

    await clickLink(page, '/mills/1')
    await page.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Mill 1')
    expect(pathOf(page)).toBe('/mills/1')
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest.for([
    { name: 'back button', delta: -1, to: '/mills/1', title: 'Mill 1' },
    { name: 'way back over two pages', delta: -2, to: '/', title: 'Home' },
    { name: 'forward button', delta: 1, to: '/mills/2', title: 'Mill 2' },
  ])('holds the $name back, and no entry of the history is lost', async ({ delta, to, title }, { open }) => {
    const page = await openEditor(open)
    const before = await position(page)
    await travel(page, delta)
    await blocked(page, `traverse ${to}`).waitFor()
    expect(pathOf(page)).toBe('/editor')
    expect(await position(page)).toEqual(before)
    await page.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Text').inputValue()).toBe('unsaved')

    await travel(page, delta)
    await page.getByRole('button', { name: 'Leave' }).click()
    await heading(page, title)
    expect(pathOf(page)).toBe(to)
    expect(await position(page)).toEqual({ index: before.index + delta, length: before.length })
    await travel(page, -delta)
    await heading(page, 'Editor')
    expect(await position(page)).toEqual(before)
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest('is asked about by the browser when it is loaded anew, and then no more', async ({ open }) => {
    const page = await openEditor(open)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await page.reload()
    await untilAlive(page)
    expect(asked).toEqual(['beforeunload'])
    expect(await page.getByLabel('Text').inputValue()).toBe('')
    await page.reload()
    await untilAlive(page)
    expect(asked).toEqual(['beforeunload'])
  })

  browserTest('lets go once there is nothing unsaved', async ({ open }) => {
    const page = await openEditor(open)
    await page.getByLabel('Text').fill('')
    await clickLink(page, '/mills/1')
    await heading(page, 'Mill 1')
    expect(await page.getByRole('alertdialog').count()).toBe(0)
  })
})
