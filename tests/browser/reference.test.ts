import { describe, expect } from 'vitest'
import type { Page } from 'playwright-core'
import { browserTest, JAVASCRIPT } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'

/** What a page shows: its status and the texts by `data-testid`. */
interface Shown {
  readonly path: string
  readonly status: number
  readonly texts: Readonly<Record<string, string | RegExp>>
  /** Where the browser ends up; `path` unless told. */
  readonly lands?: string
}

const SERVER_FAILURE = 'Application error: a server-side exception has occurred'
const CLIENT_FAILURE = 'Application error: a client-side exception has occurred'
const DIGEST = /^Digest: [0-9a-f]{12}$/

const ok = (path: string, texts: Shown['texts'] = {}): Shown => ({ path, status: 200, texts })

const PAGES: readonly Shown[] = [
  ok('/'),
  ok('/docs'),
  ok('/docs/routes'),
  ok('/lab'),
  ok('/lab/params/a%20b', { params: '{"id":"a b"}' }),
  ok('/lab/params/new', { params: '"static"' }),
  ok('/lab/alias/9', { params: '{"id":"9"}' }),
  { path: '/lab/old/9', lands: '/lab/params/9', status: 200, texts: { params: '{"id":"9"}' } },
  ok('/lab/files/a/b%2Fc', { params: '{"path":["a","b/c"]}' }),
  ok('/lab/filters', { params: '{}' }),
  ok('/lab/filters/x/y', { params: '{"filters":["x","y"]}' }),
  ok('/lab/slow/20'),
  ok('/lab/cache/a', { 'rendered-at': /^\d{13}$/ }),
  { path: '/lab/redirect/temporary', lands: '/lab/landed', status: 200, texts: { landed: 'Landed' } },
  { path: '/lab/redirect/permanent', lands: '/lab/landed', status: 200, texts: { landed: 'Landed' } },
  ok('/lab/crash/client', { 'throw-handler': /./, 'throw-render': /./, reject: /./ }),
  ok('/lab/bench/hello'),
  ok('/lab/bench/spiral'),
  ok('/lab/bench/table?n=20'),
  ok('/lab/bench/links?n=20'),
  { path: '/lab/not-found', status: 404, texts: { fallback: /./ } },
  { path: '/lab/forbidden', status: 403, texts: { fallback: /./ } },
  { path: '/lab/unauthorized', status: 401, texts: { fallback: /./ } },
  { path: '/nowhere', status: 404, texts: { fallback: /./ } },
  { path: '/docs/nowhere', status: 404, texts: { fallback: /./ } },
  { path: '/lab/crash/loader', status: 500, texts: { error: SERVER_FAILURE, digest: DIGEST } },
  { path: '/lab/crash/render', status: 500, texts: { error: SERVER_FAILURE, digest: DIGEST } },
]

/** React leaves a mark on the node that it has taken over. */
const isHydrated = (page: Page): Promise<boolean> =>
  page.evaluate(() => Object.keys(document).some((key) => key.startsWith('__reactContainer')))

async function untilHydrated(page: Page): Promise<void> {
  await page.waitForFunction(() => Object.keys(document).some((key) => key.startsWith('__reactContainer')))
}

/** Text of the page without the scripts in it, one space for any white space. */
const textOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const copy = document.body.cloneNode(true) as HTMLElement
    for (const element of copy.querySelectorAll('script, noscript, template')) element.remove()
    return copy.textContent.replaceAll(/\s+/g, ' ')
  })

async function expectTexts(page: Page, texts: Shown['texts']): Promise<void> {
  for (const [id, text] of Object.entries(texts)) {
    expect(await page.getByTestId(id).textContent()).toMatch(typeof text === 'string' ? exactly(text) : text)
  }
}

/** Chromium's line about the document's own status. */
const expected = ({ status }: Shown): RegExp[] => (status >= 400 ? [statusComplaint(status)] : [])

async function expectShown(page: Page, { path, lands = path, texts }: Shown): Promise<void> {
  const { pathname, search } = new URL(page.url())
  expect(pathname + search).toBe(lands)
  expect(await page.title()).not.toBe('')
  await expectTexts(page, texts)
}

const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)

describe('without JavaScript', () => {
  browserTest.for(PAGES)('$path is there, and nothing is on the console', async (shown, { open }) => {
    const page = await open({ javaScript: false, allow: expected(shown) })
    const answer = await page.goto(shown.path)
    expect(answer?.status()).toBe(shown.status)
    await expectShown(page, shown)
  })

  browserTest('the shell of a stream is shown before its hole', async ({ open }) => {
    const page = await open({ javaScript: false })
    await page.goto('/lab/stream?delay=5000', { waitUntil: 'commit' })
    await page.getByTestId('shell').waitFor()
    expect(await page.getByTestId('deferred').count()).toBe(0)
  })
})

describe('with JavaScript', () => {
  browserTest.for(PAGES)('$path is there, and hydration changes no text of it', async (shown, { open }) => {
    const page = await open({ allow: expected(shown) })
    // Scripts are kept waiting until the text has been read as the server sent it.
    const gate = Promise.withResolvers<void>()
    await page.route('**/_m/assets/*.js', async (route) => {
      await gate.promise
      await route.continue()
    })
    const answer = await page.goto(shown.path, { waitUntil: 'commit' })
    expect(answer?.status()).toBe(shown.status)
    await page.waitForFunction(() => document.readyState !== 'loading')
    await expectShown(page, shown)
    const before = await textOf(page)
    expect(await isHydrated(page)).toBe(false)
    gate.resolve()
    await untilHydrated(page)
    await page.waitForLoadState('networkidle')
    expect(await textOf(page)).toBe(before)
    await expectShown(page, shown)
  })
})

browserTest.for(JAVASCRIPT)('/lab/redirect/late leads on, JavaScript $name', async ({ javaScript }, { open }) => {
  const page = await open({ javaScript })
  await page.goto('/lab/redirect/late', { waitUntil: 'commit' })
  await page.waitForURL('**/lab/landed')
  expect(await page.getByTestId('landed').textContent()).toBe('Landed')
})

describe('hydration', () => {
  browserTest('does not wait for a hole: the shell is alive first', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/stream?delay=5000', { waitUntil: 'commit' })
    await page.getByTestId('shell').waitFor()
    await untilHydrated(page)
    const early = await page.evaluate(() => ({
      deferred: document.querySelectorAll('[data-testid="deferred"]').length,
      hydrated: Object.keys(document).some((key) => key.startsWith('__reactContainer')),
    }))
    expect(early).toEqual({ deferred: 0, hydrated: true })
    await page.getByTestId('deferred').waitFor()
    expect(await page.getByTestId('deferred').textContent()).toBe('Arrived 5000 ms after the shell')
  })
})

describe('after the shell has gone out', () => {
  browserTest('a failure puts the error page with the digest in place of the page', async ({ open, server }) => {
    const allow = [
      /^console\.error: .*The server failed to provide this value\. Digest: [0-9a-f]{12}/s,
      /^uncaught: Minified React error #419/, // React's word that it renders the hole anew
    ]
    const page = await open({ allow })
    const answer = await page.goto('/lab/crash/late')
    expect(answer?.status()).toBe(200)
    await page.getByTestId('error').waitFor()
    await expectTexts(page, { error: SERVER_FAILURE, digest: DIGEST })
    expect(await page.content()).not.toContain('on purpose')
    const digest = (await page.getByTestId('digest').textContent())?.slice('Digest: '.length)
    await expect.poll(() => server.logs().some((line) => line['digest'] === digest)).toBe(true)
  })

  browserTest('not-found puts its page in place, and keeps crawlers away', async ({ open }) => {
    const page = await open()
    await page.goto('/lab/not-found/late')
    await page.getByTestId('fallback').waitFor()
    expect(await page.locator('meta[name="robots"][content="noindex"]').count()).toBeGreaterThan(0)
  })
})

describe('a failure in the browser', () => {
  browserTest('of a component puts the error page in place of the page', async ({ open }) => {
    const page = await open({ allow: [/^console\.error: .*failed in the browser on purpose/s] })
    await page.goto('/lab/crash/client')
    await untilHydrated(page)
    await page.getByTestId('throw-render').click()
    await page.getByTestId('error').waitFor()
    expect(await page.getByTestId('error').textContent()).toBe(CLIENT_FAILURE)
    expect(await page.getByTestId('digest').count()).toBe(0)
    await page.getByText('Try again').click()
    await page.getByTestId('throw-render').waitFor()
  })

  browserTest.for([
    ['throw-handler', /^uncaught: .*event handler failed on purpose/s, 'An event handler has thrown.'],
    ['reject', /^uncaught: .*promise was rejected on purpose/s, 'A promise was rejected'],
  ] as const)('by %s leaves the page as it is', async ([button, complaint, said], { open }) => {
    const page = await open({ allow: [complaint] })
    await page.goto('/lab/crash/client')
    await untilHydrated(page)
    const failure = page.waitForEvent('pageerror')
    await page.getByTestId(button).click()
    await failure
    expect(await page.getByRole('status').textContent()).toContain(said)
    expect(await page.getByTestId(button).isVisible()).toBe(true)
    expect(await page.getByTestId('error').count()).toBe(0)
  })
})
