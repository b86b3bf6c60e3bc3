/**
 * Twelve kinds of pages, on a telephone and a desk, light and dark, look as when somebody last looked at them. After a
 * change that is meant: `RENEW_SCREENSHOTS=1 npm test -- screenshots`, then look at what git shows as changed.
 */
import { join } from 'node:path'
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { sendReport } from '../support/send-report.ts'
import { comparePicture, takePicture, waitForFonts } from '../support/screenshots.ts'

const FOLDER = join(import.meta.dirname, 'screenshots')
const RENEWS = process.env['RENEW_SCREENSHOTS'] === '1'

/** A kind of page. */
interface Kind {
  readonly name: string
  readonly path: string
  readonly status?: number
  /** Selectors of what differs each time. */
  readonly hidden?: string
  /** From the page at the path to the one to show. */
  readonly arrive?: (page: Page) => Promise<void>
}

const KINDS: readonly Kind[] = [
  // Its bars are drawn by real timings.
  { name: 'home', path: '/', hidden: '[aria-labelledby="stream"]' },
  { name: 'chapter', path: '/docs/actions' },
  { name: 'reference', path: '/docs/reference/server/applications' },
  { name: 'search', path: '/docs/search?q=cookies' },
  { name: 'lab', path: '/lab' },
  { name: 'experiment', path: '/lab/params/42' },
  { name: 'source', path: '/lab/source/params/id' },
  { name: 'guestbook', path: '/lab/guestbook' },
  { name: 'reports', path: '/lab/reports' },
  {
    name: 'report',
    path: '/lab/reports?q=wheel',
    arrive: async (page) => {
      await page.getByRole('link', { name: 'MillError' }).click()
      await page.getByTestId('report-title').waitFor()
    },
    hidden: '[data-testid="report-event"]',
  },
  { name: 'not-found', path: '/lab/nothing-here', status: 404 },
  // Last: the failure is a report.
  { name: 'failure', path: '/lab/crash/loader', status: 500 },
]

const WIDTHS = [390, 1_280] as const
const SCHEMES = ['light', 'dark'] as const

const pagesTest = browserTest.extend('filled', { scope: 'worker', auto: true }, async ({ browser, server }) => {
  const frames = [
    { function: 'render', filename: '/srv/node_modules/react-dom/index.js', lineno: 9 },
    { function: 'readMill', filename: 'src/app/mill-store.server.ts', lineno: 42, colno: 11 },
  ]
  await sendReport(server.origin, {
    message: 'The sluice is slow',
    level: 'warning',
    platform: 'javascript',
    release: 'r1',
  })
  await sendReport(server.origin, {
    exception: { values: [{ type: 'MillError', value: 'The wheel is stuck', stacktrace: { frames } }] },
    platform: 'node',
    release: 'r2',
    transaction: '/mills/[id]',
    tags: { digest: '3f1c9a0b7d52' },
    contexts: { trace: { trace_id: 'ab'.repeat(16) } },
  })
  const page = await browser.newPage({ baseURL: server.origin, javaScriptEnabled: false })
  await page.goto('/lab/guestbook')
  await page.getByLabel('Name').fill('Ada')
  await page.getByLabel('Message').fill('The wheel turns.')
  await page.getByRole('button', { name: 'Sign the guestbook' }).click()
  await page.close()
  return true
})

for (const { name, path, status = 200, hidden, arrive } of KINDS)
  pagesTest(`the page "${name}" looks as before`, async ({ open, browser }) => {
    const faults: string[] = []
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        const page = await open({
          context: { viewport: { width, height: 900 }, colorScheme },
          allow: status === 200 ? [] : [statusComplaint(status)],
        })
        await waitForFonts(page)
        expect((await page.goto(path, { waitUntil: 'load' }))?.status()).toBe(status)
        await untilAlive(page)
        await arrive?.(page)
        const picture = await takePicture(
          page,
          hidden === undefined ? '' : `${hidden} { visibility: hidden !important; }`,
        )
        const reference = join(FOLDER, `${name}-${width}-${colorScheme}.webp`)
        const fault = await comparePicture(browser, picture, { reference, renews: RENEWS })
        if (fault !== undefined) faults.push(fault)
      }
    expect(faults, 'If this is meant, look at the pages and run `RENEW_SCREENSHOTS=1 npm test -- screenshots`').toEqual(
      [],
    )
  })
