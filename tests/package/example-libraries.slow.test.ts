/** Libraries of the ecosystem in an application that is installed outside of the project from the packed archive. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import { visitExample } from '../support/example-pages.ts'
import {
  installExample,
  makeOutsideFolder,
  packedArchive,
  type OutsideFolder,
  type OutsideServer,
} from '../support/installed-application.ts'

interface Library {
  readonly path: string
  readonly title: string
  /** Texts of the document as a server sends it. */
  readonly sent: readonly RegExp[]
  /** Uses what only a hydrated page can. */
  use(page: Page): Promise<void>
}

const LIBRARIES: readonly Library[] = [
  {
    path: '/mantine',
    title: 'Mantine',
    sent: [/<style data-mantine-styles="true" nonce="[^"]{20,}"/, /mantine-Button-root/],
    async use(page) {
      await page.getByRole('button', { name: '1 wheels' }).click()
      await page.getByRole('button', { name: '2 wheels' }).waitFor()
      await page.getByRole('button', { name: 'Upper mill' }).click()
      await page.getByText('It has two wheels.').waitFor()
      await page.getByRole('slider').press('ArrowRight')
      expect(await page.getByRole('slider').getAttribute('aria-valuenow')).toBe('41')
    },
  },
  {
    path: '/emotion',
    title: 'Emotion',
    sent: [
      /<head>[^]*<style data-emotion="css \w+" nonce="[^"]{20,}">\.css-\w+\{padding:8px[^]*<\/head>/,
      /Reading the gauge[^]*<style data-emotion="css \w+" nonce="[^"]{20,}">\.css-\w+\{color:teal[^]*40 cm/,
    ],
    async use(page) {
      const gauge = page.getByText('40 cm')
      expect(await gauge.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(0, 128, 128)')
      await page.getByRole('button', { name: 'Note it' }).click()
      await page.getByRole('button', { name: 'Noted' }).waitFor()
      const water = page.getByRole('button', { name: 'Let water in' })
      await water.click()
      expect(await water.evaluate((element) => getComputedStyle(element).paddingTop)).toBe('16px')
      const nonces = await page.evaluate(() => Array.from(document.querySelectorAll('style'), ({ nonce }) => nonce))
      expect(nonces.filter((nonce) => nonce === '')).toEqual([])
    },
  },
  {
    path: '/radix',
    title: 'Radix',
    sent: [/role="tablist"/, /It has two wheels\./],
    async use(page) {
      await page.getByRole('tab', { name: 'Lower mill' }).click()
      await page.getByText('It has three wheels.').waitFor()
      await page.getByRole('button', { name: 'Stop the wheels' }).click()
      await page.getByRole('dialog', { name: 'Are you sure?' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    },
  },
  {
    path: '/query',
    title: 'TanStack Query',
    sent: [/<p>\d+ cm/],
    async use(page) {
      const shown = Number.parseInt((await page.getByText(/\d+ cm/).textContent()) ?? '', 10)
      await page.getByRole('button', { name: 'Read again' }).click()
      await page.getByText(`${shown + 1} cm`).waitFor()
    },
  },
  {
    path: '/modal',
    title: 'react-modal',
    sent: [/<button type="button">Open<\/button>/],
    async use(page) {
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByRole('dialog', { name: 'A mill' }).getByText('Upper mill').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    },
  },
]

const state = { folder: undefined as OutsideFolder | undefined, browser: undefined as Browser | undefined }
const NAME = 'libraries'

beforeAll(async () => {
  state.folder = await makeOutsideFolder()
  await installExample(state.folder, await packedArchive(state.folder), NAME)
  if (findChromium() !== undefined) state.browser = await launchChromium()
})

afterAll(async () => {
  await state.browser?.close()
  await state.folder?.[Symbol.asyncDispose]()
})

function outside(): OutsideFolder {
  if (state.folder === undefined) throw new Error('There is no folder.')
  return state.folder
}

const alive = (page: Page): Promise<unknown> => page.waitForFunction(() => history.state?.millrace !== undefined)

/** Visits each page in a browser: by its document, and through the client router. */
async function expectPages({ origin }: OutsideServer): Promise<void> {
  const { browser } = state
  if (browser === undefined) return
  for (const { path, title, use } of LIBRARIES) {
    await visitExample({ browser, origin, path }, async (page) => {
      await alive(page)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await use(page)
    })
    await visitExample({ browser, origin }, async (page) => {
      await alive(page)
      await page.getByRole('link', { name: title }).click()
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await use(page)
    })
  }
}

describe('pages with libraries', () => {
  test('are built without a warning, and their types hold', async () => {
    expect(await outside().run(['tsc'], { cwd: NAME })).toEqual({ code: 0, out: '', errors: '' })
    const { code, errors } = await outside().run(['millrace', 'build'], { cwd: NAME })
    expect([code, errors]).toEqual([0, ''])
  })

  test('are rendered by the server, and used in the browser without a complaint', async () => {
    await using server = await outside().serve(['millrace', 'serve'], { cwd: NAME })
    for (const { path, sent } of LIBRARIES) {
      const text = await (await fetch(server.origin + path)).text()
      for (const part of sent) expect(text).toMatch(part)
    }
    await expectPages(server)
  })

  test("are the same in development, where React's warnings count", async () => {
    await using server = await outside().serve(['millrace', 'dev'], { cwd: NAME })
    await expectPages(server)
  })
})
