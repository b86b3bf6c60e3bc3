import { isSameDocument, untilAlive } from 'millrace/testing'
import { cp, readdir, readFile, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { startDevServer } from '../../scripts/dev/dev-server.ts'
import { routerTest } from '../support/router-app.ts'
import { clickLink, heading, hold } from '../support/router-page.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** The router's pages in a development server, one for the file. */
const browserTest = routerTest.extend('dev', { scope: 'file' }, async ({}, { onCleanup }) => {
  const temp = await makeTempDir('panel')
  const root = temp.path
  const app = join(root, 'src/app')
  for (const folder of ['client', 'server', 'shared']) {
    await cp(join(PROJECT, 'src', folder), join(root, 'src', folder), { recursive: true })
  }
  await cp(join(PROJECT, 'tests/fixtures/router-app'), app, { recursive: true })
  await cp(join(PROJECT, 'package.json'), join(root, 'package.json'))
  await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  const env = { ...process.env, DATA_DIR: join(root, 'data'), PUBLIC_EDITION: 'dev' }
  const out = join(root, '.dev')
  const dev = await startDevServer({
    root,
    app,
    runtime: { folder: join(root, 'src'), compiled: false },
    out,
    port: 0,
    env,
    session: 'panel',
    print: () => {},
  })
  onCleanup(async () => {
    await dev.close()
    await temp.remove()
  })
  return { origin: new URL(dev.url).origin }
})

const panel = (page: Page) => page.getByRole('complementary', { name: 'Client router' })
const row = (page: Page, table: string, text: string | RegExp) =>
  page.getByTestId(`panel-${table}`).getByRole('row').filter({ hasText: text })
const cell = (page: Page, table: string, text: string | RegExp, name: string | RegExp) =>
  row(page, table, text).getByRole('cell', { name, exact: true })

/** Its own event stream is cut with the page; that must come before the next test. */
async function leave(page: Page): Promise<void> {
  await page.close()
}

describe('the panel of the development server', () => {
  browserTest('comes and goes by its key, and gives the focus back', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/editor')
    await untilAlive(page)
    expect(await panel(page).count()).toBe(0)
    await page.getByLabel('Text').focus()
    await page.keyboard.press('Alt+Shift+KeyM')
    await panel(page).waitFor()
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('millrace-panel')
    await page.keyboard.press('Alt+Shift+KeyM')
    await panel(page).waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('text')
    expect(await page.getByLabel('Text').inputValue()).toBe('')
    await leave(page)
  })

  browserTest('shows a navigation while it runs, what it has fetched, and how long it took', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/?millrace-panel')
    await untilAlive(page)
    await panel(page).waitFor()
    await page.getByTestId('panel-navigations').getByText('no navigation has started').waitFor()
    const held = await hold(page, /_m\/data\/mills\/1/)
    await clickLink(page, '/mills/1')
    await cell(page, 'requests', '/mills/1', 'under way').waitFor()
    await cell(page, 'navigations', '/mills/1', 'under way').first().waitFor()
    held.release()
    await heading(page, 'Mill 1')
    await cell(page, 'requests', '/mills/1', '200').waitFor()
    await cell(page, 'navigations', '/mills/1', 'commit').waitFor()
    await row(page, 'navigations', '/mills/1')
      .getByText(/^ready \d+ ms, commit \+\d+ ms$/)
      .waitFor()
    await cell(page, 'entries', /\/mills\/\[id\]#page/, 'reusable').waitFor()
    expect(
      await row(page, 'entries', /\/mills\/\[id\]#page/)
        .getByRole('cell')
        .last()
        .textContent(),
    ).toBe('mill:1')
    const widths = await page
      .getByTestId('panel-navigations')
      .locator('i')
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width))
    expect(widths).toHaveLength(2)
    expect(widths[0]).toBeGreaterThan(0)
    expect(await isSameDocument(page)).toBe(true)
    await leave(page)
  })

  browserTest('shows what is fetched ahead, as it is on its way', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    const held = await hold(page, /_m\/data\/mills\//)
    await page.goto('/ahead?millrace-panel')
    await cell(page, 'queue', '/mills/31', 'viewport').waitFor()
    await cell(page, 'queue', '/mills/32', 'render').waitFor()
    await page.getByTestId('panel-queue').getByText('2 running, 0 queued, 0 blocked. Not paused.').waitFor()
    held.release()
    await page.getByTestId('panel-queue').getByText('Nothing is being fetched ahead.').waitFor()
    await cell(page, 'entries', '"31"', 'fresh').waitFor()
    await leave(page)
  })

  browserTest('tells how old an entry is, second by second', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.clock.install()
    await page.goto('/mills/1?millrace-panel')
    const entry = row(page, 'entries', /\/mills\/\[id\]#page/)
    await entry.waitFor()
    await page.clock.fastForward(61_000)
    await entry.getByRole('cell', { name: 'stale' }).waitFor()
    await page.clock.fastForward(240_000)
    await entry.getByRole('cell', { name: 'expired' }).waitFor()
    await leave(page)
  })

  browserTest('is remembered by the browser, until it is closed', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/?millrace-panel')
    await panel(page).waitFor()
    await page.goto('/mills/2')
    await panel(page).waitFor()
    await panel(page).getByRole('button', { name: 'Close' }).click()
    await panel(page).waitFor({ state: 'detached' })
    await page.reload()
    await untilAlive(page)
    expect(await panel(page).count()).toBe(0)
    await leave(page)
  })

  browserTest('leaves the page’s own tree and state as they are', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/editor')
    await untilAlive(page)
    await page.getByLabel('Note').fill('kept')
    const body = await page.locator('body').innerHTML()
    await page.keyboard.press('Alt+Shift+KeyM')
    await panel(page).waitFor()
    expect(await page.locator('body').innerHTML()).toBe(body)
    expect(await page.getByLabel('Note').inputValue()).toBe('kept')
    await leave(page)
  })
})

describe('a production build', () => {
  browserTest('has no panel', async ({ open, edition }) => {
    const files = await readdir(join(edition.out, 'public'), { recursive: true })
    const scripts = files.filter((file) => file.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(5)
    const texts = await Promise.all(scripts.map((file) => readFile(join(edition.out, 'public', file), 'utf8')))
    expect(scripts.filter((_, index) => texts[index]?.includes('millrace-panel'))).toEqual([])
    const page = await open()
    await page.goto('/?millrace-panel')
    await untilAlive(page)
    await page.keyboard.press('Alt+Shift+KeyM')
    await clickLink(page, '/mills/1')
    await heading(page, 'Mill 1')
    expect(await page.locator('millrace-panel').count()).toBe(0)
  })
})
