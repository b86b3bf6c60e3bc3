/** Fields with their faults, failures as states, and files that are too large, as the handbook prints them. */
import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { JAVASCRIPT, type OpenPage } from '../support/browser.ts'
import { handbookTest as browserTest } from '../support/router-app.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { press } from '../support/actions-app.ts'

const KNOWN = [statusComplaint(422), statusComplaint(500), statusComplaint(413)]

async function openPage(open: OpenPage, path: string, javaScript: boolean): Promise<Page> {
  const page = await open({ javaScript, allow: KNOWN })
  await page.goto(path)
  if (javaScript) await untilAlive(page)
  return page
}

/** The text that describes a field to screen readers. */
const descriptionOf = (page: Page, label: string) =>
  page.getByLabel(label, { exact: true }).evaluate((control) =>
    (control.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.querySelector(`[id="${id}"]`)?.textContent)
      .join(' | '),
  )

browserTest.for(JAVASCRIPT)(
  'a fault is shown at its field, with what was typed, JavaScript $name',
  async ({ javaScript }, { open }) => {
    const page = await openPage(open, '/sign-up', javaScript)
    const name = page.getByLabel('Name', { exact: true })
    expect(await descriptionOf(page, 'Name')).toBe('Up to 20 characters.')
    expect(await page.getByLabel('Trade').inputValue()).toBe('baker')
    expect(await page.getByLabel('Send me news').isChecked()).toBe(true)
    await page.getByLabel('About you').fill('Grinds since 1380.')
    await page.getByLabel('Trade').selectOption('miller')
    await page.getByLabel('Send me news').uncheck()
    await press(page, 'Sign up')
    await page.getByText('Please give a name.').waitFor()
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    expect(await descriptionOf(page, 'Name')).toBe('Please give a name. | Up to 20 characters.')
    await expect.poll(() => name.evaluate((control) => control === document.activeElement)).toBe(true)
    expect(await page.getByLabel('About you').inputValue()).toBe('Grinds since 1380.')
    expect(await page.getByLabel('About you').getAttribute('aria-invalid')).toBeNull()
    expect(await page.getByLabel('Trade').inputValue()).toBe('miller')
    expect(await page.getByLabel('Send me news').isChecked()).toBe(false)
    await name.fill('ada')
    await press(page, 'Sign up')
    await page.getByText('This name is taken.').waitFor()
    expect(await name.inputValue()).toBe('ada')
    await name.fill(javaScript ? 'Grace' : 'Hedy')
    await press(page, 'Sign up')
    await page.getByText(javaScript ? 'Welcome, Grace.' : 'Welcome, Hedy.').waitFor()
    expect(await name.inputValue()).toBe('')
    expect(await name.getAttribute('aria-invalid')).toBeNull()
  },
)

browserTest('what was typed is counted, until the form is empty again', async ({ open }) => {
  const page = await openPage(open, '/sign-up', true)
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('Barbara')
  await expect.poll(() => descriptionOf(page, 'Name')).toBe('Up to 20 characters. 7 / 20')
  await press(page, 'Sign up')
  await page.getByText('Welcome, Barbara.').waitFor()
  expect(await descriptionOf(page, 'Name')).toBe('Up to 20 characters.')
})

browserTest.for(JAVASCRIPT)(
  'a button in a list that fails leaves the list where it is, JavaScript $name',
  async ({ javaScript }, { open }) => {
    const page = await openPage(open, '/shelf', javaScript)
    await press(page, 'Remove Stone')
    const told = page.getByText(/^Stone was not removed. Please try again. \([0-9a-f]{12}\)$/)
    await told.waitFor()
    expect(await page.getByRole('status').filter({ hasText: 'not removed' }).count()).toBe(1)
    const part = javaScript ? 'Wheel' : 'Shaft'
    await press(page, `Remove ${part}`)
    await page.getByRole('button', { name: `Remove ${part}` }).waitFor({ state: 'detached' })
    if (javaScript) {
      expect(await told.isVisible()).toBe(true)
      expect(await isSameDocument(page)).toBe(true)
    }
  },
)

browserTest.for(JAVASCRIPT)(
  'a file that is too large is the fault of its field, JavaScript $name',
  async ({ javaScript }, { open }) => {
    const page = await openPage(open, '/photo', javaScript)
    const send = async (size: number) => {
      const file = { name: 'mill.jpg', mimeType: 'image/jpeg', buffer: Buffer.alloc(size) }
      await page.getByLabel('Photo', { exact: true }).setInputFiles(file)
      const answered = page.waitForResponse((response) => response.request().method() === 'POST')
      await press(page, 'Send')
      expect((await answered).status()).toBe(size > 2_000_000 ? 413 : 200)
      await page.waitForLoadState()
    }
    await page.getByLabel('Title').fill('Abbey mill')
    for (const size of [2_000_001, 12_000_000]) {
      await send(size)
      await page.getByText('This photo is larger than 2 MB.').waitFor()
      expect(await descriptionOf(page, 'Photo')).toBe('This photo is larger than 2 MB. | At most 2 MB.')
      expect(await page.getByLabel('Title').inputValue()).toBe('Abbey mill')
    }
    await send(1_000)
    await page.getByText('1000 bytes.').waitFor()
  },
)

browserTest.for(JAVASCRIPT)(
  'a form without its required file says so at the field, JavaScript $name',
  async ({ javaScript }, { open }) => {
    const page = await openPage(open, '/photo', javaScript)
    await page.getByLabel('Title').fill('Abbey mill')
    await press(page, 'Send')
    await page.getByText('Please choose a photo.').waitFor()
    expect(await descriptionOf(page, 'Photo')).toBe('Please choose a photo. | At most 2 MB.')
    expect(await page.getByLabel('Title').inputValue()).toBe('Abbey mill')
  },
)
