/** A whole product, written from the handbook alone, that is installed outside of the project from the packed archive. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import {
  installExample,
  makeOutsideFolder,
  packedArchive,
  type OutsideFolder,
  type OutsideServer,
} from '../support/installed-application.ts'
import { recordComplaints, statusComplaint, unexpectedComplaints, type Complaints } from '../support/page-complaints.ts'

const NAME = 'desk'
const MOST_LINES = 1300 // blank ones aside
const PHONE = { width: 390, height: 844 }
const AGENT = 'agent@desk.example'
const NO_NETWORK = /net::ERR_INTERNET_DISCONNECTED/

const state = {
  folder: undefined as OutsideFolder | undefined,
  server: undefined as OutsideServer | undefined,
  browser: undefined as Browser | undefined,
}

beforeAll(async () => {
  state.folder = await makeOutsideFolder()
  await installExample(state.folder, await packedArchive(state.folder), NAME)
  const built = await state.folder.run(['npm', 'run', 'build'], { cwd: NAME })
  if (built.code !== 0) throw new Error(built.out + built.errors)
  if (findChromium() === undefined) return
  state.browser = await launchChromium()
  state.server = await state.folder.serve(['node', 'host.ts'], { cwd: NAME, env: { JOB_SECONDS: '0.1' } })
})

afterAll(async () => {
  await state.browser?.close()
  await state.server?.[Symbol.asyncDispose]()
  await state.folder?.[Symbol.asyncDispose]()
})

function outside(): OutsideFolder {
  if (state.folder === undefined) throw new Error('There is no folder.')
  return state.folder
}

/** The path in the last mail to somebody with this subject. Without a mail server, mails are files. */
async function mailedPath(email: string, subject: string): Promise<string> {
  const folder = join(outside().path, 'data/mails')
  const find = async (): Promise<string | undefined> => {
    const files = (await readdir(folder).catch(() => [])).toSorted((one, other) => parseInt(other) - parseInt(one))
    const mails = await Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8'))))
    const mail = mails.find((one) => one.to[0].address === email && one.subject === subject)
    return mail === undefined ? undefined : /https?:\S+/.exec(mail.text)?.[0]
  }
  await expect.poll(find, { timeout: 30_000 }).toBeDefined()
  const { pathname, search } = new URL((await find()) ?? '')
  return pathname + search
}

interface Somebody {
  readonly page: Page
  readonly context: BrowserContext
  readonly complaints: Complaints
  /** Requests for route data and calls of actions since it was last read. */
  readonly asked: () => string[]
}

interface Options {
  readonly javaScriptEnabled?: boolean
  readonly viewport?: typeof PHONE
}

/** Signs in by the mailed link, on a device of its own. */
async function signedIn(browser: Browser, email: string, name: string, options: Options = {}): Promise<Somebody> {
  const context = await browser.newContext({ baseURL: state.server?.origin ?? '', ...options })
  const complaints = recordComplaints(context, options.javaScriptEnabled !== false)
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/desk/_m/data/'))
      asked.push(`${request.method()} ${pathname.slice('/desk/_m/data'.length)}`)
  })
  await page.goto('/desk/en')
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByText('We have sent a link').waitFor()
  await page.goto(await mailedPath(email, 'Sign in to Mill Desk'))
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Tickets' }).waitFor()
  return { page, context, complaints, asked: () => asked.splice(0) }
}

/** Walks through the wizard. */
async function sendTicket(page: Page, subject: string): Promise<void> {
  await page.getByRole('link', { name: 'New ticket' }).click()
  await page.getByLabel('Subject').fill(subject)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('Message').fill('It made a noise.\n\nThen it stopped.')
  await page.getByRole('button', { name: 'Next' }).click()
  const file = { name: 'Räder (1).txt', mimeType: 'text/plain', buffer: Buffer.from('crack') }
  await page.getByLabel('Files').setInputFiles(file)
  await page.getByRole('button', { name: 'Send ticket' }).click()
  await page.getByRole('heading', { name: subject }).waitFor()
  await page.getByText('Thank you.').waitFor()
}

const pathOf = (page: Page): string => page.url().slice(new URL(page.url()).origin.length)
const colourOf = (text: Locator): Promise<string> => text.evaluate((element) => getComputedStyle(element).color)
const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)

describe('a product from the handbook alone', () => {
  test('has less than 1,300 lines', async () => {
    const source = join(outside().path, NAME, 'src')
    const files = (await readdir(source, { recursive: true })).filter((file) => /\.(?:tsx?|css)$/.test(file))
    const texts = await Promise.all(files.map((file) => readFile(join(source, file), 'utf8')))
    expect(texts.join('').split(/\n\s*/).length - 1).toBeLessThan(MOST_LINES)
  })

  test('passes its own tests, and its types hold', async () => {
    const { code, out, errors } = await outside().run(['npm', 'test'], { cwd: NAME })
    expect(out + errors).toMatch(/Tests {2}\d+ passed \(\d+\)/)
    expect(code).toBe(0)
  })

  test('is used by two people at once, who see at once what the other does', async () => {
    const { browser } = state
    if (browser === undefined) return
    const gus = await signedIn(browser, AGENT, 'Gus')
    const ann = await signedIn(browser, 'ann@example.com', 'Ann', { viewport: PHONE })
    await sendTicket(ann.page, 'The wheel stands still')
    expect(await widthOf(ann.page)).toBe(PHONE.width)
    await gus.page.getByRole('link', { name: 'The wheel stands still' }).click() // the list has it without a reload
    await gus.page.getByText('Then it stopped.').waitFor()
    await gus.page.getByText('● Live').waitFor()
    await ann.page.getByText('● Live').waitFor()
    const path = pathOf(gus.page)
    const data = path.replace('/desk', '')
    gus.asked()
    ann.asked()

    // One action is one request in its tab, and one in the other.
    await gus.page.getByLabel('Answer').fill('Oil it.')
    await gus.page.getByRole('button', { name: 'Send' }).click()
    await ann.page.getByText('Oil it.').waitFor()
    await gus.page.getByRole('button', { name: 'Ask back' }).dblclick()
    await ann.page.getByText('Waiting', { exact: true }).waitFor()
    await ann.page.getByLabel('Answer').fill('It still squeaks.')
    await ann.page.getByRole('button', { name: 'Send' }).click()
    await gus.page.getByText('It still squeaks.').waitFor()
    await ann.page.getByText('Open', { exact: true }).waitFor()
    expect(await mailedPath('ann@example.com', 'New answer to your ticket')).toBe(path)
    expect([gus.asked(), ann.asked()]).toEqual([
      [`POST ${data}`, `POST ${data}`, `GET ${data}`],
      [`GET ${data}`, `GET ${data}`, `POST ${data}`],
    ])

    // The dialog has a URL: Back and Escape close it, and the ticket below it is not asked for again.
    await gus.page.getByRole('link', { name: 'Edit' }).click()
    await gus.page.getByRole('dialog').waitFor()
    await gus.page.goBack()
    await gus.page.getByRole('dialog').waitFor({ state: 'detached' })
    await gus.page.goForward()
    await gus.page.locator('dialog:modal').waitFor()
    await gus.page.keyboard.press('Escape')
    await gus.page.waitForURL((url) => url.pathname === path)
    await gus.page.getByRole('link', { name: 'Edit' }).click()
    await gus.page.getByLabel('Subject').fill('The wheel squeaks')
    await gus.page.getByRole('button', { name: 'Save' }).click()
    await ann.page.getByRole('heading', { name: 'The wheel squeaks' }).waitFor()
    expect(gus.asked().filter((one) => one.startsWith('POST'))).toEqual([`POST ${data}/edit`])
    expect(ann.asked()).toEqual([`GET ${data}`])

    await gus.page.getByRole('link', { name: 'Figures' }).click()
    await gus.page.locator('canvas').waitFor()
    await gus.page.goBack()
    await gus.page.getByRole('heading', { name: 'The wheel squeaks' }).waitFor()
    const download = gus.page.waitForEvent('download')
    await gus.page.getByRole('link', { name: 'Räder (1).txt' }).click()
    expect((await download).suggestedFilename()).toBe('Räder (1).txt')
    for (const { complaints, context } of [gus, ann]) {
      expect(unexpectedComplaints(complaints, [])).toEqual([])
      await context.close()
    }
  })

  test('finds tickets by its URL, in two languages, and keeps an answer without a network', async () => {
    const { browser } = state
    if (browser === undefined) return
    const { page, context, complaints, asked } = await signedIn(browser, 'bob@example.com', 'Bob')
    await sendTicket(page, 'Bread')
    await sendTicket(page, 'Butter')
    await page.getByRole('link', { name: 'Tickets' }).click()
    await page.getByRole('link', { name: 'Butter' }).waitFor()
    asked()
    await page.getByRole('searchbox').pressSequentially('brea')
    await page.getByRole('link', { name: 'Butter' }).waitFor({ state: 'detached' })
    expect([pathOf(page), asked()]).toEqual(['/desk/en/tickets?q=brea', ['GET /en/tickets']])
    await page.getByRole('combobox').selectOption('Solved')
    await page.getByText('No tickets here.').waitFor()
    await page.getByRole('link', { name: 'Deutsch' }).click()
    await page.getByText('Hier gibt es keine Anfragen.').waitFor()
    expect([pathOf(page), await page.locator('html').getAttribute('lang')]).toEqual([
      '/desk/de/tickets?q=brea&status=solved',
      'de',
    ])
    await page.goBack()
    await page.goBack()
    await page.getByRole('link', { name: 'Bread' }).waitFor()
    expect(await page.getByRole('combobox').inputValue()).toBe('all')

    await page.getByRole('link', { name: 'Bread' }).click()
    await page.getByLabel('Answer').fill('Without a network')
    await context.setOffline(true)
    await page.getByText('No network').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('not sent yet').waitFor()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('heading', { name: 'No network' }).waitFor()
    await page.getByRole('link', { name: 'Mill Desk' }).waitFor() // the site's header stays
    await page.goBack()
    await context.setOffline(false)
    await page.getByText('Without a network', { exact: true }).waitFor() // it was sent by itself, once
    await page.getByText('not sent yet').waitFor({ state: 'detached' })
    expect(await page.getByText('Without a network').count()).toBe(1)
    expect(unexpectedComplaints(complaints, [NO_NETWORK])).toEqual([])
    await context.close()
  })

  test('works on a phone without JavaScript', async () => {
    const { browser } = state
    if (browser === undefined) return
    const options = { javaScriptEnabled: false, viewport: PHONE }
    const { page, context, complaints } = await signedIn(browser, 'eve@example.com', 'Eve', options)
    await page.goto('/desk/en/new/review') // leads to the first step that is missing
    await page.getByRole('button', { name: 'Next' }).click()
    expect(await colourOf(page.getByText('Please fill this in.'))).not.toBe(await colourOf(page.getByText('Subject')))
    await sendTicket(page, `Flour${'r'.repeat(100)}`) // breaks anywhere
    await page.getByText(/Open \(Eve\)/).waitFor()
    await page.getByLabel('Answer').fill('Soon, please.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Soon, please.').waitFor()
    expect(await widthOf(page)).toBe(PHONE.width)
    await page.getByRole('link', { name: 'Tickets' }).click()
    await page.getByRole('searchbox').fill('flo')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('link', { name: 'Flour' }).waitFor()
    await page.goto('/desk/en/stats')
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(unexpectedComplaints(complaints, [statusComplaint(403), statusComplaint(422)])).toEqual([])
    await context.close()
  })
})
