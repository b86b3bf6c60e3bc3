/** A whole product, written from the handbook alone, that is installed outside of the project from the packed archive. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import {
  installExample,
  makeOutsideFolder,
  packedArchive,
  type OutsideFolder,
} from '../support/installed-application.ts'
import { recordComplaints, statusComplaint, unexpectedComplaints } from '../support/page-complaints.ts'

const NAME = 'conduit-lite'
const MOST_LINES = 1000
const PHONE = { width: 390, height: 844 }

const state = { folder: undefined as OutsideFolder | undefined, browser: undefined as Browser | undefined }

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

/** @returns the path of the article. */
async function signUpAndWrite(page: Page): Promise<string> {
  await page.goto('/account')
  await alive(page)
  const form = page.locator('#sign-up')
  await form.getByLabel('Name').fill('ann')
  await form.getByLabel('Password').fill('a secret of the test')
  await form.getByRole('button').click()
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  await page.getByRole('link', { name: 'Write' }).click()
  await page.getByLabel('Title').fill('The upper mill')
  await page.getByLabel('Text').fill('One.\n\nTwo.')
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('heading', { name: 'The upper mill' }).waitFor()
  return new URL(page.url()).pathname
}

describe('a product from the handbook alone', () => {
  test('has less than a thousand lines', async () => {
    const source = join(outside().path, NAME, 'src')
    const files = (await readdir(source, { recursive: true })).filter((file) => /\.(?:tsx?|css)$/.test(file))
    const texts = await Promise.all(files.map((file) => readFile(join(source, file), 'utf8')))
    expect(texts.join('').split('\n').length - 1).toBeLessThan(MOST_LINES)
  })

  test('passes its own tests, and its types hold', async () => {
    const { code, out, errors } = await outside().run(['npm', 'test'], { cwd: NAME })
    expect(out + errors).toMatch(/^ℹ fail 0$/m)
    expect(code).toBe(0)
  })

  test('is used by two pages at once, and fits a phone', async () => {
    expect(await outside().run(['millrace', 'build'], { cwd: NAME })).toMatchObject({ code: 0, errors: '' })
    const { browser } = state
    if (browser === undefined) return
    await using server = await outside().serve(['millrace', 'serve'], { cwd: NAME })
    const context = await browser.newContext({ baseURL: server.origin, viewport: PHONE })
    const complaints = recordComplaints(context)
    const [page, other] = [await context.newPage(), await context.newPage()]
    const path = await signUpAndWrite(page)
    const listening = other.waitForResponse((response) => response.url().endsWith('/events'))
    await other.goto(path)
    await listening
    await page.getByLabel('Your comment').fill('Well written.')
    await page.getByRole('button', { name: 'Comment' }).click()
    await other.getByText('Well written.').waitFor()
    await page.getByRole('button', { name: 'Favourite, 0' }).click()
    await page.getByRole('button', { name: 'Favourite, 1' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width)
    expect(unexpectedComplaints(complaints, [statusComplaint(401)])).toEqual([])
    await context.close()
  })
})
