/** The runtime's own texts in the browser, in the language of the page on screen. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { actionTest as browserTest } from '../support/actions-app.ts'

const OFFLINE = [/ERR_INTERNET_DISCONNECTED/, /ERR_FAILED/]

/** The bar of a form that is sent without a network. */
async function barOf(page: Page): Promise<readonly string[]> {
  await page.context().setOffline(true)
  await expect.poll(() => page.evaluate(() => navigator.onLine)).toBe(false)
  await page.getByRole('button', { name: 'OK', exact: true }).click()
  const bar = page.locator('.millrace-unsent')
  await bar.getByRole('button').first().waitFor()
  return [await bar.locator('p').innerText(), ...(await bar.getByRole('button').allInnerTexts())]
}

const GERMAN = [
  '„OK“ wurde nicht gesendet. Es gibt keine Verbindung. Es wird gesendet, sobald es eine gibt.',
  'Try again',
  'Abbrechen',
]

/** Once everything has loaded that is needed without a network. */
async function open(page: Page, path: string): Promise<void> {
  const loaded = page.waitForResponse(/call-troubles-/)
  await page.goto(path)
  await untilAlive(page)
  await loaded
  await page.waitForLoadState('networkidle')
}

describe('a form that was not sent', () => {
  browserTest(
    'is said to be in the language of its page, and in English what that leaves out',
    async ({ open: openPage }) => {
      const page = await openPage({ allow: OFFLINE })
      await open(page, '/in/de')
      expect(await barOf(page)).toEqual(GERMAN)
    },
  )

  browserTest.for([
    ['/in/en', 'Deutsch', 'In de', GERMAN],
    [
      '/in/de',
      'English',
      'In en',
      ['“OK” was not sent. There is no network. It will be sent when the connection is back.', 'Try again', 'Cancel'],
    ],
  ] as const)(
    'follows a link from %s to another language',
    async ([from, link, heading, texts], { open: openPage }) => {
      const page = await openPage({ allow: OFFLINE })
      await open(page, from)
      await page.getByRole('link', { name: link }).click()
      await page.getByRole('heading', { name: heading }).waitFor()
      await page.waitForLoadState('networkidle')
      expect(await barOf(page)).toEqual(texts)
    },
  )
})

browserTest('a page whose code does not load says so in its language', async ({ open: openPage }) => {
  const page = await openPage({ allow: [/ERR_FAILED|Failed to fetch dynamically imported module|error loading/i] })
  // The page's own module, whose name is the one of every page.
  await page.route(/\/_m\/assets\/page-/, (route) => route.abort())
  await page.goto('/in/de')
  const bar = page.getByRole('alert')
  await bar.waitFor()
  expect(await bar.innerText()).toMatch(/Ein Teil dieser Seite fehlt\.\s*Neu laden/)
})

browserTest('no other language is loaded', async ({ open: openPage }) => {
  const page = await openPage()
  const loaded: string[] = []
  page.on('request', (request) => loaded.push(request.url()))
  await open(page, '/in/en')
  expect(loaded.filter((url) => url.includes('german'))).toEqual([])
  await open(page, '/in/de')
  expect(loaded.filter((url) => url.includes('german'))).toHaveLength(1)
})
