/** `Form`, and the recipes for search params and kept lists, as the handbook prints them. */
import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { JAVASCRIPT } from '../support/browser.ts'
import { handbookTest as browserTest } from '../support/router-app.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { clickLink, heading, pathOf, recordDocuments } from '../support/router-page.ts'

const names = (page: Page) => page.getByRole('listitem').allTextContents()
const word = (page: Page) => page.getByLabel('Name')

const fields = async (page: Page) => [await word(page).inputValue(), await page.getByLabel('Order').inputValue()]

browserTest('a form for search params is followed, and leaves defaults out of the URL', async ({ open }) => {
  const page = await open()
  await page.goto('/mills')
  await untilAlive(page)
  await word(page).fill('MILL')
  await word(page).press('Enter')
  await expect.poll(() => pathOf(page)).toBe('/mills?word=MILL')
  expect(await word(page).evaluate((input) => input === document.activeElement)).toBe(true)
  await word(page).fill('')
  await page.getByLabel('Order').selectOption('age')
  await page.getByRole('button', { name: 'Show' }).click()
  await expect.poll(() => pathOf(page)).toBe('/mills?order=age')
  expect(await names(page)).toEqual(['Castle mill', 'Abbey mill', 'Bridge mill'])
  await page.goBack()
  await expect.poll(() => names(page)).toEqual(['Abbey mill', 'Bridge mill', 'Castle mill'])
  await expect.poll(() => fields(page)).toEqual(['MILL', 'name'])
  await page.goBack()
  await expect.poll(() => fields(page)).toEqual(['', 'name'])
  await page.goForward()
  await page.goForward()
  await expect.poll(() => fields(page)).toEqual(['', 'age'])
  expect(await isSameDocument(page)).toBe(true)
})

browserTest('setSearch leaves defaults out of the URL', async ({ open }) => {
  const page = await open()
  await page.goto('/mills?word=mill&order=name')
  await untilAlive(page)
  await page.getByRole('button', { name: 'Oldest first' }).click()
  await expect.poll(() => pathOf(page)).toBe('/mills?word=mill&order=age')
  await page.goto('/mills')
  await untilAlive(page)
  await page.getByRole('button', { name: 'Oldest first' }).click()
  await expect.poll(() => pathOf(page)).toBe('/mills?order=age')
})

browserTest('the same form works without JavaScript', async ({ open }) => {
  const page = await open({ javaScript: false })
  await page.goto('/mills')
  await word(page).fill('bridge')
  await page.getByRole('button', { name: 'Show' }).click()
  expect(pathOf(page)).toBe('/mills?word=bridge&order=name')
  expect(await names(page)).toEqual(['Bridge mill'])
  expect(await fields(page)).toEqual(['bridge', 'name'])
})

browserTest('a form is the browser’s own where a button or another listener says so', async ({ open, server }) => {
  const page = await open()
  await page.goto('/mills')
  await untilAlive(page)
  /** Whether the router has taken the form that a button with this attribute submits. */
  const submitted = (name: string, value: string) =>
    page.evaluate(
      ([attribute, text]) => {
        const form = document.querySelector('form') as HTMLFormElement
        const submitter = form.querySelector('button') as HTMLButtonElement
        submitter.setAttribute(attribute, text)
        const event = new SubmitEvent('submit', { bubbles: true, cancelable: true, submitter })
        form.dispatchEvent(event)
        submitter.removeAttribute(attribute)
        return event.defaultPrevented
      },
      [name, value] as const,
    )
  expect(await submitted('formmethod', 'post')).toBe(false)
  expect(await submitted('formmethod', 'dialog')).toBe(false)
  expect(await submitted('formtarget', '_blank')).toBe(false)
  expect(await submitted('formaction', 'https://example.com/')).toBe(false)
  expect(await submitted('formaction', 'http://[')).toBe(false)
  await word(page).fill('a b')
  expect(await submitted('formaction', `${server.origin}/where?x=1`)).toBe(true)
  await heading(page, 'Where')
  expect(pathOf(page)).toBe('/where?word=a+b')
  expect(await isSameDocument(page)).toBe(true)
})

browserTest.for(JAVASCRIPT)(
  'a search of 100 kB ends in one answer, and Back has the text, JavaScript $name',
  async ({ javaScript }, { open }) => {
    const page = await open({ javaScript, allow: [statusComplaint(414), statusComplaint(431)] })
    await page.goto('/mills')
    if (javaScript) await untilAlive(page)
    const documents = recordDocuments(page)
    await word(page).fill('x'.repeat(100_000))
    const answered = page.waitForResponse((response) => response.request().isNavigationRequest())
    await word(page).press('Enter')
    expect([414, 431]).toContain((await answered).status())
    await page.waitForLoadState()
    expect(documents).toHaveLength(1)
    await page.goBack()
    await heading(page, 'Mills')
    await expect.poll(async () => (await word(page).inputValue()).length).toBe(100_000)
  },
)

browserTest(
  'fields that nobody declared go by the page’s schema, and a param that is there twice has the value for invalid ones',
  async ({ open }) => {
    const page = await open()
    await page.goto('/mills?other=1&__proto__=2&constructor=3&word=bridge')
    await untilAlive(page)
    expect(await names(page)).toEqual(['Bridge mill'])
    await page.getByRole('button', { name: 'Show' }).click()
    await expect.poll(() => pathOf(page)).toBe('/mills?word=bridge')
    await page.evaluate(() => {
      const copy = document.querySelector('input')?.cloneNode() as HTMLInputElement
      document.querySelector('form')?.append(copy)
    })
    await page.getByRole('button', { name: 'Show' }).click()
    await expect.poll(() => pathOf(page)).toBe('/mills?word=bridge&word=bridge')
    await expect.poll(() => names(page)).toEqual(['Abbey mill', 'Bridge mill', 'Castle mill'])
  },
)

browserTest('a link whose search params the page’s schema refuses leads to the answer 400', async ({ open }) => {
  const page = await open({ allow: [statusComplaint(400)] })
  await page.goto('/mills')
  await untilAlive(page)
  await page.evaluate(() => {
    const link = Object.assign(document.createElement('a'), { href: '/strict?page=x', textContent: 'Strange' })
    document.querySelector('main, body')?.append(link)
  })
  await page.getByRole('link', { name: 'Strange' }).click()
  await page.getByText('400').first().waitFor()
  expect(pathOf(page)).toBe('/strict?page=x')
})

browserTest(
  'a dialog in a search param opens over the list, survives a reload, and closes by Escape and Back',
  async ({ open }) => {
    const page = await open()
    await page.goto('/mills?word=mill')
    await untilAlive(page)
    await clickLink(page, 'Bridge mill')
    const dialog = page.getByRole('dialog', { name: 'Bridge mill' })
    await dialog.waitFor()
    expect(pathOf(page)).toContain('show=bridge')
    await page.reload()
    await untilModal(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => pathOf(page)).toBe('/mills?word=mill')
    await clickLink(page, 'Castle mill')
    await page.getByRole('dialog', { name: 'Castle mill' }).waitFor()
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await names(page)).toHaveLength(3)
  },
)

browserTest('the same dialog opens and closes without JavaScript', async ({ open }) => {
  const page = await open({ javaScript: false })
  await page.goto('/mills')
  await clickLink(page, 'Abbey mill')
  await page.getByRole('dialog', { name: 'Abbey mill' }).getByText('Built in 1380.').waitFor()
  await clickLink(page, 'Close')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

browserTest('a list in an Activity keeps what was typed while a page covers it', async ({ open }) => {
  const page = await open()
  await page.goto('/yard')
  await untilAlive(page)
  await page.getByLabel('Filter').fill('sh')
  await clickLink(page, 'Shaft')
  await heading(page, 'Shaft')
  expect(await page.getByLabel('Filter').isVisible()).toBe(false)
  await clickLink(page, 'All parts')
  await heading(page, 'Yard')
  expect(await page.getByLabel('Filter').inputValue()).toBe('sh')
  expect(await names(page)).toEqual(['Shaft'])
  expect(await isSameDocument(page)).toBe(true)
})

browserTest('the same list is there without JavaScript, and not in the page that covers it', async ({ open }) => {
  const page = await open({ javaScript: false })
  await page.goto('/yard')
  expect(await names(page)).toEqual(['Wheel', 'Shaft', 'Stone'])
  await clickLink(page, 'Wheel')
  await heading(page, 'Wheel')
  expect(await page.getByLabel('Filter').count()).toBe(0)
})

/** Once hydrated, the dialog that the server has written is modal. */
async function untilModal(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('dialog:modal') !== null)
}
