import { isSameDocument, untilAlive } from 'millrace/testing'
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { routes } from '../../src/app/routes.ts'
import { browserTest } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { unstyledParts } from '../support/page-styles.ts'
import { heading, pathOf } from '../support/router-page.ts'

/** A visit to one page. */
interface Visit {
  readonly path: string
  /** Of the document that the browser ends up with. Default 200. */
  readonly status?: number
  /** Where the browser ends up; `path` unless told. */
  readonly lands?: string
  /** Selects what the page shows when it is complete. Default `h1`. */
  readonly shows?: string
  readonly allow?: readonly RegExp[]
}

const ERROR_PAGE = '[data-testid="error"]'
const FALLBACK = '[data-testid="fallback"]'

/**
 * One visit for each page of the reference application, by its pattern. `npm test` runs this file alone of the browser's
 * tests; `npm test -- --all` runs all of them.
 */
const VISITS: Readonly<Record<string, Visit>> = {
  '/(site)': { path: '/' },
  '/(site)/docs/[[...slug]]': { path: '/docs/routes' },
  '/(site)/docs/search': { path: '/docs/search?q=redirect' },
  '/(site)/lab': { path: '/lab' },
  '/(site)/lab/source/[...path]': { path: '/lab/source/kept/key' },
  '/(site)/lab/mills/[id]': { path: '/lab/mills/upper' },
  '/(site)/lab/params/[id]': { path: '/lab/params/7' },
  '/(site)/lab/params/new': { path: '/lab/params/new' },
  '/(site)/lab/files/[...path]': { path: '/lab/files/a/b' },
  '/(site)/lab/filters/[[...filters]]': { path: '/lab/filters/x' },
  '/(site)/lab/stream': { path: '/lab/stream?delay=20', shows: '[data-testid="deferred"]' },
  '/(site)/lab/slow/[ms]': { path: '/lab/slow/20' },
  '/(site)/lab/cache/[key]': { path: '/lab/cache/a' },
  '/(site)/lab/shared/[key]': { path: '/lab/shared/a' },
  '/(site)/lab/kept/[key]': { path: '/lab/kept/a' },
  '/(site)/lab/shell/[key]': { path: '/lab/shell/a' },
  '/(site)/lab/html/[key]': { path: '/lab/html/1', shows: '[data-testid="rendered-html"]' },
  '/(site)/lab/early': { path: '/lab/early?delay=20' },
  '/(site)/lab/inspector': { path: '/lab/inspector' },
  '/(site)/lab/redirect/temporary': { path: '/lab/redirect/temporary', lands: '/lab/landed' },
  '/(site)/lab/redirect/permanent': { path: '/lab/redirect/permanent', lands: '/lab/landed' },
  '/(site)/lab/redirect/late': { path: '/lab/redirect/late', lands: '/lab/landed' },
  '/(site)/lab/landed': { path: '/lab/landed' },
  '/(site)/lab/not-found': { path: '/lab/not-found', status: 404, shows: FALLBACK },
  '/(site)/lab/not-found/late': { path: '/lab/not-found/late', shows: FALLBACK },
  '/(site)/lab/forbidden': { path: '/lab/forbidden', status: 403, shows: FALLBACK },
  '/(site)/lab/unauthorized': { path: '/lab/unauthorized', status: 401, shows: FALLBACK },
  '/(site)/lab/crash/loader': { path: '/lab/crash/loader', status: 500, shows: ERROR_PAGE },
  '/(site)/lab/crash/render': { path: '/lab/crash/render', status: 500, shows: ERROR_PAGE },
  '/(site)/lab/crash/late': {
    path: '/lab/crash/late',
    shows: ERROR_PAGE,
    allow: [
      /^console\.error: .*The server failed to provide this value/s,
      /^uncaught: (?:$|Minified React error #419;)/,
    ],
  },
  '/(site)/lab/crash/part': {
    path: '/lab/crash/part',
    allow: [
      /^console\.error: .*The server failed to provide this value/s,
      /^uncaught: (?:$|Minified React error #419;)/,
    ],
  },
  '/(site)/lab/crash/client': { path: '/lab/crash/client' },
  '/(site)/lab/flaky/[key]': { path: `/lab/flaky/${randomUUID()}` },
  '/(site)/lab/guestbook': { path: '/lab/guestbook' },
  '/(site)/lab/upload': { path: '/lab/upload' },
  '/(site)/lab/session': { path: '/lab/session' },
  '/(site)/lab/private': { path: '/lab/private', status: 401, shows: FALLBACK },
  '/(site)/lab/reports': { path: '/lab/reports' },
  '/(site)/lab/reports/[id]': { path: '/lab/reports/0', status: 404, shows: FALLBACK },
  '/(bench)/lab/bench/hello': { path: '/lab/bench/hello' },
  '/(bench)/lab/bench/spiral': { path: '/lab/bench/spiral', shows: 'main' },
  '/(bench)/lab/bench/table': { path: '/lab/bench/table?n=20', shows: 'main' },
  '/(bench)/lab/bench/links': { path: '/lab/bench/links?n=20', shows: 'main' },
  '/(bench)/lab/bench/kept/hello': { path: '/lab/bench/kept/hello' },
  '/(bench)/lab/bench/kept/spiral': { path: '/lab/bench/kept/spiral', shows: 'main' },
  '/(bench)/lab/bench/kept/table': { path: '/lab/bench/kept/table?n=10', shows: 'main' },
  '/(bench)/lab/bench/kept/links': { path: '/lab/bench/kept/links?n=10', shows: 'main' },
  '/(bench)/lab/bench/shell/hello': { path: '/lab/bench/shell/hello' },
  '/(bench)/lab/bench/shell/spiral': { path: '/lab/bench/shell/spiral', shows: 'main' },
  '/(bench)/lab/bench/shell/table': { path: '/lab/bench/shell/table?n=10', shows: 'main' },
  '/(bench)/lab/bench/shell/links': { path: '/lab/bench/shell/links?n=10', shows: 'main' },
}

async function expectStyled(page: Page): Promise<void> {
  expect(await unstyledParts(page)).toEqual([])
}

browserTest('every page of the route table is visited', () => {
  const pages = Object.entries(routes).filter(([, segment]) => 'page' in segment)
  expect(Object.keys(VISITS).toSorted()).toEqual(pages.map(([pattern]) => pattern).toSorted())
})

browserTest.for(Object.entries(VISITS))(
  '%s is there, alive and with its styles',
  async ([pattern, visit], { open }) => {
    const { path, status = 200, lands = path, shows = 'h1', allow = [] } = visit
    const page = await open({ allow: status === 200 ? allow : [...allow, statusComplaint(status)] })
    const answer = await page.goto(path)
    await page.waitForURL((url) => url.pathname + url.search === lands)
    if (lands === path) expect(answer?.status()).toBe(status)
    await page.locator(shows).first().waitFor()
    await page.waitForFunction(() => history.state?.millrace !== undefined)
    expect(await page.title()).not.toBe('')
    // Those of the benchmark have no stylesheet.
    if (!pattern.startsWith('/(bench)')) await expectStyled(page)
  },
)

describe('a page without its styles', () => {
  browserTest('fails when a stylesheet is switched off', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/params/7')
    await expectStyled(page)
    await page.evaluate(() => {
      for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) link.media = 'not all'
    })
    expect((await unstyledParts(page)).join('\n')).toMatch(/no rule for.*h1 is in the browser's own/s)
  })

  browserTest('fails when its stylesheets do not arrive', async ({ open }) => {
    const page = await open({ allow: [/\.css/, /net::ERR_FAILED/] })
    await page.route('**/*.css', (route) => route.abort())
    await page.goto('/lab/params/7')
    expect((await unstyledParts(page)).join('\n')).toMatch(/no rule for.*h1 is in the browser's own/s)
  })
})

browserTest('a link leads on in the same document, and Back returns, both with their styles', async ({ open }) => {
  const page = await open()
  await page.goto('/docs/routes')
  await untilAlive(page)
  await page.locator('header').getByRole('link', { name: 'Lab' }).click()
  await heading(page, 'Lab')
  await expectStyled(page)
  expect(await isSameDocument(page)).toBe(true)
  await page.goBack()
  await heading(page, 'Routes and params')
  await expectStyled(page)
  expect(pathOf(page)).toBe('/docs/routes')
  expect(await isSameDocument(page)).toBe(true)
})

browserTest.for([true, false])('a form is sent and its entry shown, JavaScript %s', async (javaScript, { open }) => {
  const page = await open({ javaScript })
  await page.goto('/lab/guestbook')
  if (javaScript) await untilAlive(page)
  const message = `signed ${randomUUID()}`
  await page.getByLabel('Name').fill('Ada')
  await page.getByLabel('Message').fill(message)
  await page.getByRole('button', { name: 'Sign the guestbook' }).click()
  await page.getByText('Thank you, Ada.').waitFor()
  expect(await page.getByTestId('entries').locator('li').first().innerText()).toContain(message)
  await expectStyled(page)
})

browserTest('a fallback takes the place of a page that fails, with its styles, and leads on', async ({ open }) => {
  const page = await open({ allow: [/^console\.error: .*failed in the browser on purpose/s] })
  await page.goto('/lab')
  await untilAlive(page)
  await page.evaluate(() => document.querySelector<HTMLElement>('a[href="/lab/crash/client"]')?.click())
  await page.getByTestId('throw-render').click()
  await page.getByTestId('error').waitFor()
  await expectStyled(page)
  await page.locator('header').getByRole('link', { name: 'Lab' }).click()
  await heading(page, 'Lab')
  await expectStyled(page)
})
