import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { browserTest as testInBrowser } from '../support/browser.ts'
import { startDevProject, type DevProject } from '../support/dev-project.ts'

const OVERLAY = 'millrace-overlay dialog'

/** A small application in a development server, free to be changed. */
const browserTest = testInBrowser.extend('project', async ({}, { onCleanup }) => {
  const project = await startDevProject('build-dev')
  onCleanup(() => project.close())
  return project
})

/** Opens the counter and counts to two: what a refresh has to keep. */
async function countToTwo(page: Page, { dev }: DevProject): Promise<void> {
  await page.goto(dev.url)
  const button = page.getByRole('button')
  // Clicks before hydration are lost; the first that counts tells that it is over.
  await expect.poll(async () => (await button.click(), button.textContent())).not.toBe('0')
  while ((await button.textContent()) !== '2') await button.click()
}

browserTest(
  'a saved component and a saved stylesheet are there at once, and the state is kept',
  async ({ project, open }) => {
    const page = await open()
    await countToTwo(page, project)
    await project.replace('counter-page.tsx', 'First version', 'Second version')
    await page.getByRole('heading', { name: 'Second version' }).waitFor()
    expect(await page.getByRole('button').textContent()).toBe('2')

    await project.replace('counter-page.module.css', 'rgb(1 2 3)', 'rgb(4 5 6)')
    const color = (): Promise<string> => page.locator('main').evaluate((main) => getComputedStyle(main).color)
    await expect.poll(color).toBe('rgb(4, 5, 6)')
    expect(await page.getByRole('button').textContent()).toBe('2')
    await page.close() // before its server is gone
  },
)

browserTest(
  'a broken source is shown over the page, and goes away with the state kept when it is mended',
  async ({ project, open }) => {
    const page = await open()
    await countToTwo(page, project)
    await project.replace('counter-page.tsx', '</h1>', '')
    const overlay = page.locator(OVERLAY)
    await overlay.waitFor()
    expect(await overlay.innerText()).toContain('counter-page.tsx:')
    await project.replace('counter-page.tsx', 'First version', 'Mended</h1>')
    await page.getByRole('heading', { name: 'Mended' }).waitFor()
    await overlay.waitFor({ state: 'detached' })
    expect(await page.getByRole('button').textContent()).toBe('2')
    await page.close() // before its server is gone
  },
)

browserTest(
  'a saved loader has the page fetch its data again, also after it has failed, and the state is kept',
  async ({ project, open }) => {
    const page = await open({ allow: [/500/, /no data/] })
    await countToTwo(page, project)
    await untilAlive(page)
    await project.replace('loader.server.ts', `'loaded'`, `'other data'`)
    await page.getByText('other data').waitFor()
    expect(await page.getByRole('button').textContent()).toBe('2')

    await project.replace('loader.server.ts', `return 'other data'`, `throw new Error('no data')`)
    const overlay = page.locator(OVERLAY)
    await overlay.getByText('no data').first().waitFor()
    await project.replace('loader.server.ts', `throw new Error('no data')`, `return 'mended data'`)
    await page.getByText('mended data').waitFor()
    await overlay.waitFor({ state: 'detached' })
    expect(await page.getByRole('button').textContent()).toBe('2')
    expect(await isSameDocument(page)).toBe(true)
    await page.close() // before its server is gone
  },
)

/** Holds back the next connection for events. */
async function holdEvents(page: Page): Promise<{ readonly reached: Promise<void>; release(): void }> {
  const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(
    '**/_m/dev',
    async (route) => {
      reached.resolve()
      await release.promise
      await route.continue()
    },
    { times: 1 },
  )
  return { reached: reached.promise, release: () => release.resolve() }
}

/** Resolves when a page of this server, other than those on screen, has heard of an update. */
async function heardUpdate(page: Page, { dev }: DevProject): Promise<{ readonly heard: Promise<unknown> }> {
  const listener = await page.context().newPage()
  await listener.goto(`${dev.url}/healthz`)
  await listener.evaluate(
    () =>
      new Promise((resolve) => {
        const events = new EventSource('/_m/dev')
        events.addEventListener('open', resolve)
        events.addEventListener('message', ({ data }: MessageEvent<string>) => {
          if ((JSON.parse(data) as { type: string }).type === 'update') document.title = 'heard'
        })
      }),
  )
  const heard = listener.waitForFunction(() => document.title === 'heard').then(() => listener.close())
  return { heard }
}

browserTest('a page that hears of a save before its first render shows it after that', async ({ project, open }) => {
  const page = await open()
  const held = Promise.withResolvers<void>()
  // Beside the page's own module, which runs meanwhile.
  await page.route('**/error.tsx*', async (route) => (await held.promise, await route.continue()), { times: 1 })
  const ran = page.waitForResponse('**/counter-page.module.css*')
  await page.goto(project.dev.url, { waitUntil: 'commit' })
  await ran
  const { heard } = await heardUpdate(page, project)
  await project.replace('counter-page.tsx', 'First version', 'Second version')
  await heard
  held.resolve()
  await page.getByRole('heading', { name: 'Second version' }).waitFor()
  await page.close() // before its server is gone
})

browserTest(
  'a page that hears of a save only after it comes up to it: between its document and its events',
  async ({ project, open }) => {
    const page = await open()
    const events = await holdEvents(page)
    await page.goto(project.dev.url)
    await events.reached
    await project.replace('counter-page.tsx', 'First version', 'Second version')
    await expect.poll(async () => (await fetch(project.dev.url)).text()).toContain('Second version')
    events.release()
    await page.getByRole('heading', { name: 'Second version' }).waitFor()
    await page.close() // before its server is gone
  },
)

browserTest('a failed page whose fault is mended before it hears of it goes away', async ({ project, open }) => {
  const page = await open({ allow: [/500/] })
  await page.goto(project.dev.url)
  await project.replace('counter-page.tsx', '</h1>', '')
  await page.locator(OVERLAY).waitFor()
  const events = await holdEvents(page)
  await page.reload()
  await events.reached
  await project.replace('counter-page.tsx', 'First version', 'Mended</h1>')
  await expect.poll(async () => (await fetch(project.dev.url)).text()).toContain('Mended')
  events.release()
  await page.getByRole('heading', { name: 'Mended' }).waitFor()
  await page.close() // before its server is gone
})

browserTest(
  'an error of the server is shown with the line, Escape closes it, and mending it loads the page',
  async ({ project, open }) => {
    const page = await open({ allow: [/500/] })
    await page.goto(project.dev.url)
    await project.replace('loader.server.ts', `return 'loaded'`, `throw new Error('no data today')`)
    const overlay = page.locator(OVERLAY)
    await overlay.waitFor()
    expect(await overlay.innerText()).toContain('no data today')
    expect(await overlay.innerText()).toContain('loader.server.ts:2:')
    await page.keyboard.press('Escape')
    await overlay.waitFor({ state: 'detached' })
    await project.replace('loader.server.ts', `throw new Error('no data today')`, `return 'mended'`)
    await page.getByTestId('data').filter({ hasText: 'mended' }).waitFor()
    await page.close() // before its server is gone
  },
)

browserTest(
  'an error that the error page has caught is shown over it, and goes away when it is mended',
  async ({ project, open }) => {
    const page = await open({ allow: [/too many/] })
    await countToTwo(page, project)
    await project.replace('counter-page.tsx', 'count === 100', 'count === 2')
    await page.locator(OVERLAY).waitFor()
    const text = await page.locator(OVERLAY).innerText()
    expect(text).toContain('The page failed in the browser')
    expect(text).toContain('src/app/counter-page.tsx:9:')
    await page.getByText('Failed on the').waitFor()
    await project.replace('counter-page.tsx', 'count === 2', 'count === 100')
    await page.locator(OVERLAY).waitFor({ state: 'detached' })
    await page.close() // before its server is gone
  },
)

browserTest(
  'a page that has lost its component is named, and the state is kept when it is back',
  async ({ project, open }) => {
    const page = await open()
    await countToTwo(page, project)
    await project.replace('counter-page.tsx', 'export default function', 'export function')
    const overlay = page.locator(OVERLAY)
    await overlay.getByText("src/app/counter-page.tsx has no default export, and is the page of '/'").waitFor()
    await project.replace('counter-page.tsx', 'export function', 'export default function')
    await overlay.waitFor({ state: 'detached' })
    expect(await page.getByRole('button').textContent()).toBe('2')
    await page.close() // before its server is gone
  },
)

browserTest('a page whose events come from another server than its document loads again', async ({ project, open }) => {
  const page = await open()
  const hello = `retry: 600000\ndata: ${JSON.stringify({ type: 'hello', session: 'of the next server', build: 1 })}\n\n`
  await page.route('**/_m/dev', (route) => route.fulfill({ contentType: 'text/event-stream', body: hello }), {
    times: 1,
  })
  const loads: string[] = []
  page.on('load', () => loads.push(page.url()))
  await page.goto(project.dev.url)
  await expect.poll(() => loads.length).toBe(2)
  await page.close() // before its server is gone
})

browserTest('a page that cannot load one of its modules still hears of the next server', async ({ project, open }) => {
  const page = await open({ allow: [/ERR_FAILED/, /Failed to fetch dynamically imported module/] })
  await page.route('**/src/app/client.tsx*', (route) => route.abort())
  const hears = page.waitForRequest('**/_m/dev')
  await page.goto(project.dev.url)
  await hears
  await page.close() // before its server is gone
})

browserTest('a page that other data has broken is there again when its loader is mended', async ({ project, open }) => {
  const page = await open({ allow: [/not a function/] })
  await page.goto(project.dev.url)
  await untilAlive(page)
  await project.replace('counter-page.tsx', '{data}', '{data.trim()}')
  await project.replace('loader.server.ts', `'loaded'`, `1 as never`)
  const overlay = page.locator(OVERLAY)
  await overlay.getByText('not a function').first().waitFor()
  await project.replace('loader.server.ts', `1 as never`, `'mended data'`)
  await page.getByText('mended data').waitFor()
  await overlay.waitFor({ state: 'detached' })
  expect(await isSameDocument(page)).toBe(true)
  await page.close() // before its server is gone
})

browserTest(
  'an error that nothing catches in the browser is shown with its line in the source',
  async ({ project, open }) => {
    const page = await open({ allow: [/too many/] })
    await countToTwo(page, project)
    await project.replace('counter-page.tsx', 'setCount(count + 1)', `{ throw new Error('too many') }`)
    await expect
      .poll(async () => {
        await page
          .getByRole('button')
          .click({ timeout: 1_000 })
          .catch(() => undefined)
        return page.locator(OVERLAY).count()
      })
      .toBe(1)
    const text = await page.locator(OVERLAY).innerText()
    expect(text).toContain('too many')
    expect(text).toContain('src/app/counter-page.tsx:14:')
    await page.close() // before its server is gone
  },
)

browserTest('a page with deferred data has a router too: its links need no document', async ({ project, open }) => {
  const page = await open()
  await page.goto(`${project.dev.url}/late`)
  await page.getByTestId('late').getByText('late', { exact: true }).waitFor()
  await untilAlive(page)
  await page.getByRole('link', { name: 'Counter' }).click()
  await page.getByRole('heading', { name: 'First version' }).waitFor()
  expect(await isSameDocument(page)).toBe(true)
  await page.close() // before its server is gone
})
