import { isSameDocument, untilAlive } from 'millrace/testing'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { startDevProject } from '../support/dev-project.ts'
import { routerTest } from '../support/router-app.ts'
import { clickLink, heading, hold } from '../support/router-page.ts'

/** A page with an action, beside the router's pages. */
const DESK: Readonly<Record<string, string>> = {
  'desk/actions.server.ts': `import { action } from 'millrace/server'
export const save = action({ handler: () => 'saved' })
`,
  'desk/page.tsx': `import { useActionState } from 'react'
import { save } from './actions.server.ts'
export default function DeskPage() {
  const [state, submit] = useActionState(save, null)
  return (
    <form action={submit}>
      <h1>Desk</h1>
      <button>Save</button>
      <output>{String(state)}</output>
    </form>
  )
}
`,
  'desk/kept.server.ts': `export const loader = ({ params: { name }, context }: { params: { name: string }, context: { cookie(name: string): unknown } }) =>
  ({ name, for: name === 'own' ? context.cookie('who') : 'all' })
`,
  'desk/kept-page.tsx': `export default ({ data }: { data: { name: string } }) => (
  <main><h1>Kept {data.name}</h1><a href="/kept/all" data-prefetch="none">all</a><a href="/kept/own" data-prefetch="none">own</a></main>
)
`,
}

const ENTRIES = `'/desk': { page: () => import('./desk/page.tsx') },
  '/kept/[name]': {
    cache: 'shared',
    page: () => import('./desk/kept-page.tsx'),
    loader: () => import('./desk/kept.server.ts'),
  },
  '/ahead'`

/** The router's pages in a development server, one for the file. */
const browserTest = routerTest.extend('dev', { scope: 'file' }, async ({}, { onCleanup }) => {
  const prepare = async (app: string): Promise<void> => {
    await mkdir(join(app, 'desk'))
    for (const [file, text] of Object.entries(DESK)) await writeFile(join(app, file), text)
    const routes = await readFile(join(app, 'routes.ts'), 'utf8')
    await writeFile(join(app, 'routes.ts'), routes.replace("'/ahead'", ENTRIES))
  }
  const project = await startDevProject('router-app', { PUBLIC_EDITION: 'dev' }, { prepare })
  onCleanup(() => project.close())
  return { origin: new URL(project.dev.url).origin }
})

const panel = (page: Page) => page.getByRole('complementary', { name: 'Client router' })
const row = (page: Page, table: string, text: string | RegExp) =>
  page.getByTestId(`panel-${table}`).getByRole('row').filter({ hasText: text })
const cell = (page: Page, table: string, text: string | RegExp, name: string | RegExp) =>
  row(page, table, text).getByRole('cell', { name, exact: true })

/** Opens a tab of the panel. */
const section = (page: Page, name: RegExp) => panel(page).getByRole('tab', { name }).click()

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
    await cell(page, 'navigations', '/mills/1', 'in progress').first().waitFor()
    await section(page, /Requests/)
    await cell(page, 'requests', '/mills/1', 'in progress').waitFor()
    await section(page, /Cache/)
    await cell(page, 'incoming', /\/mills\/\[id\]#page/, 'in flight').waitFor()
    held.release()
    await heading(page, 'Mill 1')
    await section(page, /Requests/)
    await cell(page, 'requests', '/mills/1', '200').waitFor()
    await row(page, 'requests', '/mills/1')
      .getByText(/\/mills\/\[id\]#page [\d.]+ ms/)
      .waitFor()
    await section(page, /Screen/)
    await cell(page, 'screen', 'mill-page.tsx', 'navigation').waitFor()
    await cell(page, 'navigations', '/mills/1', 'commit').waitFor()
    await row(page, 'navigations', '/mills/1')
      .getByText(/^ready \d+ ms, commit \+\d+ ms$/)
      .waitFor()
    const widths = await page
      .getByTestId('panel-navigations')
      .locator('i')
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width))
    expect(widths).toHaveLength(2)
    expect(widths[0]).toBeGreaterThan(0)
    await section(page, /Cache/)
    await cell(page, 'entries', /\/mills\/\[id\]#page/, 'reusable').waitFor()
    await cell(page, 'entries', /\/mills\/\[id\]#page/, 'mill:1').waitFor()
    expect(await isSameDocument(page)).toBe(true)
    await leave(page)
  })

  browserTest('says of kept pages how they were answered, and a warning why one is not kept', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/kept/all?millrace-panel')
    await untilAlive(page)
    await section(page, /Requests/)
    await cell(page, 'requests', '/kept/all', /^(?:miss|hit)$/).waitFor()
    await clickLink(page, 'own')
    await heading(page, 'Kept own')
    await cell(page, 'requests', '/kept/own', 'bypass: cookie who').waitFor()
    const warning = page.locator('millrace-warnings article').filter({ hasText: 'Page that is not cached' })
    await warning.getByText('cookie who').waitFor({ state: 'attached' })
    await page.goto('/kept/own')
    await untilAlive(page)
    await clickLink(page, 'all')
    await heading(page, 'Kept all')
    await cell(page, 'requests', '/kept/all', 'hit').waitFor()
    await leave(page)
  })

  browserTest('shows what is fetched ahead, as it is on its way', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    const held = await hold(page, /_m\/data\/mills\//)
    await page.goto('/ahead?millrace-panel')
    await section(page, /Prefetch/)
    await cell(page, 'queue', '/mills/31', 'viewport').waitFor()
    await cell(page, 'queue', '/mills/32', 'render').waitFor()
    await page.getByTestId('panel-queue').getByText('2 running, 0 queued, 0 blocked. Not paused.').waitFor()
    held.release()
    await page.getByTestId('panel-queue').getByText('Nothing is being fetched ahead.').waitFor()
    await section(page, /Cache/)
    await cell(page, 'entries', '"31"', 'fresh').waitFor()
    await leave(page)
  })

  browserTest('tells how old an entry is, second by second', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.clock.install()
    await page.goto('/mills/1?millrace-panel')
    await section(page, /Cache/)
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

  browserTest('drops and refetches what it shows, and says what has gone', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/mills/1?millrace-panel')
    await section(page, /Cache/)
    const key = /\/mills\/\[id\]#page/
    const refetched = page.waitForResponse(/_m\/data\/mills\/1/)
    await row(page, 'entries', key).getByRole('button', { name: 'Refetch /mills/1' }).click()
    await refetched
    await cell(page, 'dropped', key, 'dropped').waitFor()
    await row(page, 'entries', key).getByRole('button', { name: 'Drop /mills/1' }).click()
    await row(page, 'entries', key).waitFor({ state: 'detached' })
    await section(page, /Screen/)
    await cell(page, 'screen', 'mill-page.tsx', 'not kept').waitFor()
    await leave(page)
  })

  browserTest('is moved, resized and closed by keyboard, and stays as it was left', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin, viewport: { width: 1280, height: 800 } } })
    await page.goto('/?millrace-panel')
    await panel(page).getByLabel('Dock').selectOption('right')
    const edge = panel(page).getByRole('separator', { name: 'Size of the panel' })
    await edge.focus()
    const { width = 0 } = (await panel(page).boundingBox()) ?? {}
    await page.keyboard.press('ArrowLeft')
    await expect.poll(async () => (await panel(page).boundingBox())?.width).toBe(width + 24)
    await panel(page).getByRole('tab', { selected: true }).focus()
    await page.keyboard.press('ArrowRight')
    await panel(page).getByRole('tab', { name: /Cache/, selected: true }).waitFor()
    await page.reload()
    await panel(page).getByRole('tab', { name: /Cache/, selected: true }).waitFor()
    expect(await panel(page).boundingBox()).toMatchObject({ x: 1280 - width - 24, y: 0 })
    await page.setViewportSize({ width: 390, height: 800 })
    await expect.poll(async () => (await panel(page).boundingBox())?.width).toBe(390)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await panel(page).getByRole('tab', { selected: true }).focus()
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    await leave(page)
  })

  browserTest(
    'names an action that is called, what came of it, and what the document weighed',
    async ({ open, dev }) => {
      const page = await open({ context: { baseURL: dev.origin } })
      await page.goto('/desk?millrace-panel')
      await untilAlive(page)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('saved').waitFor()
      await section(page, /Actions/)
      await cell(page, 'actions', 'desk/actions.server.ts save', '200, done').waitFor()
      await section(page, /Page/)
      await cell(page, 'document', 'Rendered', /whole|streamed/).waitFor()
      await leave(page)
    },
  )

  browserTest('has a button, except where a program controls the browser', async ({ open, dev }) => {
    const page = await open({ context: { baseURL: dev.origin } })
    await page.goto('/')
    await untilAlive(page)
    expect(await page.locator('millrace-panel-button').count()).toBe(0)
    await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false }))
    await page.reload()
    const button = page.locator('millrace-panel-button button')
    await button.waitFor()
    expect(await page.getByRole('button', { name: 'Millrace' }).count()).toBe(0)
    const { x = 0, y = 0 } = (await button.boundingBox()) ?? {}
    await page.mouse.move(x + 9, y + 9)
    await page.mouse.down()
    await page.mouse.move(x + 9, 20, { steps: 4 })
    await page.mouse.up()
    await expect.poll(async () => (await button.boundingBox())?.y).toBe(12)
    await button.click()
    await panel(page).waitFor()
    expect(await button.count()).toBe(0)
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
