import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { browserTest as testInBrowser, type OpenOptions } from '../support/browser.ts'
import { startDevProject } from '../support/dev-project.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const OVERLAY = 'millrace-overlay dialog'
const WARNINGS = 'millrace-warnings'
const LIST = 'millrace-warnings dialog'

/** Pages that each fail in their own way, in one development server for the file. */
const browserTest = testInBrowser
  .extend('project', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await makeTempDir('code')
    const editor = join(folder.path, 'code')
    const opened = join(folder.path, 'opened')
    await writeFile(editor, `#!/bin/sh\nprintf '%s\\n' "$@" > ${opened}\n`)
    await chmod(editor, 0o755)
    const project = await startDevProject('dev-faults', { LAUNCH_EDITOR: editor })
    onCleanup(async () => {
      await project.close()
      await folder.remove()
    })
    return { ...project, opened }
  })
  .extend('visit', async ({ open, project }) => {
    return async (path: string, allow: readonly RegExp[] = [], context: OpenOptions['context'] = {}): Promise<Page> => {
      const page = await open({ allow, context: { ...context, baseURL: project.dev.url } })
      await page.goto(path)
      return page
    }
  })

/** Its own event stream is cut with the page; that must come before the next test. */
async function leave(page: Page): Promise<void> {
  await page.close()
}

browserTest('React’s message has its arguments, its place, and one entry', async ({ visit }) => {
  const page = await visit('/nested', [/cannot be a descendant/, /cannot contain a nested/, /Hydration failed/])
  const overlay = page.locator(OVERLAY)
  await overlay.getByText('In HTML, <form> cannot be a descendant of <p>.').waitFor()
  await overlay.getByRole('button', { name: 'src/app/nested-page.tsx:16:' }).waitFor()
  expect(await overlay.locator('pre b').allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining('<p>'), expect.stringContaining('16 |')]),
  )
  expect(await overlay.innerText()).not.toContain('1 of')
  await leave(page)
})

browserTest('a page that differs from the server’s is shown with the difference', async ({ visit }) => {
  const page = await visit('/mismatch', [/Hydration failed/])
  const overlay = page.locator(OVERLAY)
  await overlay.getByText('Hydration failed').waitFor()
  expect(await overlay.locator('ins').innerText()).toContain('in the browser')
  expect(await overlay.locator('del').last().innerText()).toContain('on the server')
  await leave(page)
})

browserTest(
  'failures are counted, and stepped through by keyboard; Escape closes until the next',
  async ({ visit }) => {
    const page = await visit('/', [/Failed: the/])
    await untilAlive(page)
    const overlay = page.locator(OVERLAY)
    const fail = async (name: string): Promise<void> => {
      await page.getByRole('button', { name }).click()
      await overlay.getByText(`Failed: the ${name.toLowerCase()}`).first().waitFor()
    }
    await fail('First')
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('millrace-overlay')
    await page.keyboard.press('Escape')
    await overlay.waitFor({ state: 'detached' })
    await fail('First')
    await overlay.getByText('(2 times)').waitFor()
    await page.keyboard.press('Escape')
    await fail('Second')
    await overlay.getByText('2 of 2').waitFor()
    await page.keyboard.press('ArrowLeft')
    await overlay.getByText('1 of 2').waitFor()
    expect(await overlay.innerText()).toContain('Failed: the first')
    await overlay.getByRole('button', { name: 'Next' }).click()
    await overlay.getByText('2 of 2').waitFor()
    expect(await overlay.innerText()).toContain('Failed: the second')
    await leave(page)
  },
)

browserTest('the badge of warnings and the button of the panel do not cover each other', async ({ visit }) => {
  const page = await visit('/bare')
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false }))
  await page.reload()
  const badge = await page.locator(WARNINGS).getByRole('button', { name: 'warnings' }).boundingBox()
  const panel = await page.locator('millrace-panel-button button').boundingBox()
  expect(badge?.x).toBeGreaterThanOrEqual((panel?.x ?? Infinity) + (panel?.width ?? Infinity))
  await leave(page)
})

browserTest('warnings are a badge, tell their place, and go away when they are mended', async ({ visit, project }) => {
  const page = await visit('/bare', [/unique "key" prop/])
  await untilAlive(page)
  const warnings = page.locator(WARNINGS)
  await warnings.getByRole('button', { name: '3 warnings' }).click()
  const list = warnings.getByRole('dialog')
  const text = await list.innerText()
  for (const part of ['No route answers /nowhere', '/bare has no <title>', 'has no size', 'src/app/bare-page.tsx:12:'])
    expect(text).toContain(part)
  expect(project.printed.filter((line) => line.includes('bare-page.tsx:12:'))).toHaveLength(1)
  await page.keyboard.press('Escape')

  await project.replace('bare-page.tsx', '/nowhere', '/keys')
  await warnings.getByRole('button', { name: '2 warnings' }).waitFor()
  await project.replace('bare-page.tsx', `<img src={icon} alt="" />`, `<img src={icon} alt="" width="4" height="4" />`)
  await warnings.getByRole('button', { name: '1 warning', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Nowhere' }).click()
  await page.getByRole('heading', { name: 'Keys' }).waitFor()
  // A missing key is React's to say, and the title is there.
  await warnings.getByText('Each child in a list').waitFor({ state: 'attached' })
  await expect.poll(() => page.locator(LIST).textContent()).not.toContain('no <title>')
  expect(await page.locator(LIST).textContent()).toContain('src/app/keys-page.tsx:11:')
  await leave(page)
})

browserTest('a fault in a stylesheet is a warning with its place, until it is mended', async ({ visit, project }) => {
  const sheet = join(project.root, 'src/app/broken.css')
  await writeFile(sheet, 'main {\n  margin: 0;\n  color red;\n}\n')
  await project.replace('slow-page.tsx', 'import ', "import './broken.css'\nimport ")
  const page = await visit('/slow')
  const warnings = page.locator(WARNINGS)
  const fault = warnings.locator('article').filter({ hasText: 'Warning of the compiler' })
  await fault.waitFor({ state: 'attached' })
  expect(await fault.textContent()).toMatch(/Expected ":".*> 3 \|   color red;.*src\/app\/broken\.css:3:8/s)
  expect(
    await page
      .locator(LIST)
      .getByText('src/app/broken.css:3:8')
      .evaluate(({ localName }) => localName),
  ).toBe('button')
  await writeFile(sheet, 'main {\n  margin: 0;\n  color: red;\n}\n')
  await fault.waitFor({ state: 'detached' })
  await leave(page)
})

browserTest('slow loaders are drawn, and a value that changes on its way is named', async ({ visit, project }) => {
  const page = await visit('/slow')
  const warnings = page.locator(WARNINGS)
  await warnings.getByText('The loader of /slow#page took').waitFor({ state: 'attached' })
  const text = await page.locator(LIST).textContent()
  // A module that is loaded first leaves a gap before the bar.
  expect(text).toMatch(/\/slow#page \| {0,9}█+\|/)
  expect(text).toContain('.prices.get("oats"): an instance of Decimal')
  expect(project.printed.filter((line) => /\/slow#page \| {0,9}█/.test(line))).toHaveLength(1)
  await leave(page)
})

browserTest('a page that fails while it hydrates is shown when its code is mended', async ({ visit, project }) => {
  const page = await visit('/crash', [/only in the browser/])
  await page.locator(OVERLAY).getByText('only in the browser').first().waitFor()
  const fault = "if (typeof document !== 'undefined') throw new Error('only in the browser')"
  await project.replace('crash-page.tsx', fault, '')
  await page.getByRole('heading', { name: 'Mended' }).waitFor()
  await expect.poll(() => page.title()).toBe('Crash')
  expect(await page.locator('meta[name=robots]').count()).toBe(0)

  await project.replace('crash-page.tsx', '  return (', `  ${fault}\n  return (`)
  await page.locator(OVERLAY).getByText('only in the browser').first().waitFor()
  await project.replace('crash-page.tsx', fault, '')
  await page.getByRole('heading', { name: 'Mended' }).waitFor()
  await expect.poll(() => page.title()).toBe('Crash')
  await leave(page)
})

browserTest('a save that reads a server variable in a page is told as a build tells it', async ({ visit, project }) => {
  const page = await visit('/slow')
  await untilAlive(page)
  await project.replace('slow-page.tsx', '  return ', '  console.log(process.env.SECRET)\n  return ')
  await page.locator(OVERLAY).getByText('Only variables named PUBLIC_* are built into the browser bundle').waitFor()
  await project.replace('slow-page.tsx', '  console.log(process.env.SECRET)\n', '')
  await page.locator(OVERLAY).waitFor({ state: 'hidden' })
  await leave(page)
})

browserTest('an action’s failure names the action, and its place opens in the editor', async ({ visit, project }) => {
  const page = await visit('/', [/500/, /ServerFailure/])
  await untilAlive(page)
  await page.getByRole('button', { name: 'Order' }).click()
  const overlay = page.locator(OVERLAY)
  await overlay.getByRole('heading', { name: 'An action failed on the server' }).waitFor()
  expect(await overlay.innerText()).toContain('actions.server.ts: order')
  await overlay.getByRole('button', { name: 'src/app/actions.server.ts:5:' }).click()
  await overlay.getByRole('status').getByText('Opened src/app/actions.server.ts').waitFor()
  const file = join(project.root, 'src/app/actions.server.ts')
  await expect.poll(() => readFile(project.opened, 'utf8').catch(() => '')).toMatch(`-r\n-g\n${file}:5:`)
  await leave(page)
})

browserTest('a loader’s failure tells its request, folds other frames, and is copied', async ({ visit }) => {
  const page = await visit('/orders/1', [/500/, /no order/], { permissions: ['clipboard-read', 'clipboard-write'] })
  await untilAlive(page)
  await page.getByRole('link', { name: 'The next' }).click()
  const overlay = page.locator(OVERLAY)
  await overlay.getByRole('heading', { name: 'A loader failed on the server' }).waitFor()
  await overlay.getByText('500', { exact: true }).waitFor()
  const text = await overlay.innerText()
  for (const part of ['/orders/[id]#page', 'GET /orders/13', 'src/app/order.server.ts:4:']) expect(text).toContain(part)
  expect(text).not.toContain('1 of')

  const summary = overlay.locator('summary').filter({ hasText: /frames? of Millrace/ })
  const frame = overlay.getByText('src/server/routes/load/loader-call.ts').first()
  expect(await frame.isVisible()).toBe(false)
  await summary.focus()
  await page.keyboard.press('Enter')
  expect(await frame.isVisible()).toBe(true)

  await overlay.getByRole('button', { name: 'Copy' }).click()
  await overlay.getByRole('status').getByText('Copied.').waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  for (const part of [
    'Error: no order today',
    'Loader: /orders/[id]#page',
    'Status: 500',
    'Versions: Millrace',
    '> 4 |',
  ])
    expect(copied).toContain(part)
  await leave(page)
})

browserTest(
  'a loader that fails after its answer has begun is shown with its own status, once for one click and not for a prefetch',
  async ({ visit, project }) => {
    // A build lets pages that open from now on forget earlier failures: an action has failed at this path.
    await project.replace('home-page.tsx', 'Faults</h1>', 'Built</h1>')
    await expect.poll(async () => (await fetch(project.dev.url)).text()).toContain('Built')
    const page = await visit('/', [/500/, /no shelf/])
    await untilAlive(page)
    await page.getByRole('link', { name: 'Shelf' }).hover()
    const prefetched = /^error GET \/shelves\/13, prefetch, uncaught failure/
    await expect.poll(() => project.printed.filter((line) => prefetched.test(line)).length).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Shelf' }).click()
    const overlay = page.locator(OVERLAY)
    await overlay.getByText('no shelf today').first().waitFor()
    await page.getByText('Failed on the server', { exact: true }).waitFor()
    const late = /^info  GET \/shelves\/13 500 \S+ ms, prefetch, begun with 200$/
    await expect.poll(() => project.printed.filter((line) => late.test(line)).length).toBeGreaterThan(0)
    await overlay.getByText('500', { exact: true }).waitFor()
    expect(await overlay.innerText()).not.toContain('times')
    const log = project.printed.join('\n')
    expect(log).toContain("info  looking { shelf: '13', size: { width: 4 } }")
    expect(log).toContain('Caused by: Error: no ladder')

    await page.keyboard.press('Escape')
    await page.keyboard.press('Alt+Shift+M')
    const panel = page.getByRole('complementary', { name: 'Client router' })
    await panel.getByRole('tab', { name: /Requests/ }).click()
    await panel.getByText('500, begun with 200').first().waitFor()
    await leave(page)
  },
)

browserTest('the overlay fits a narrow screen, and its colours can be read, light and dark', async ({ visit }) => {
  const page = await visit('/orders/13', [/500/], { viewport: { width: 390, height: 844 } })
  const overlay = page.locator(OVERLAY)
  await overlay.getByText('500', { exact: true }).waitFor()
  await page.addScriptTag({ path: 'node_modules/axe-core/axe.min.js' })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const faults = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run: (root: unknown) => Promise<{ violations: { id: string }[] }> }
      }
      return (await axe.run('millrace-overlay')).violations.map(({ id }) => id)
    })
    expect(faults).toEqual([])
  }
  const overhang = await overlay.evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)
  expect(overhang).toBe(0)
  await leave(page)
})
