import type { Page, Request } from 'playwright-core'
import type { BenchBrowser } from './browser-pages.ts'
import { bundleBarePage } from './bundle.ts'
import type { Measurement } from './measurement.ts'
import { startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { median } from './statistics.ts'

const MOST_RATIO = 1.2
const WARM_UP_PAIRS = 10 // compiled code and caches of both pages
const BARE_PATH = '/bare-page'
const BARE_SCRIPT = '/bare-page.js'

const pathOf = (key: number): string => `/lab/cache/${key}`

/** A click, and what it must bring. */
interface Step {
  readonly href: string
  readonly heading: string
}

/**
 * Time from a click to the new heading, on links whose page was fetched ahead and never shown before, against a bare swap
 * of the same trees. The pages take turns, and so does who begins. The time ends when the page that changed has its
 * layout, which nobody can see it without; ours includes what the router does there: history, scrolling, focus,
 * announcement. So there is a third page, which does the least of that. A visitor sees the page when the next frame is
 * painted, so that time is shown beside it.
 * @throws {Error} when the two pages show different things, or a page complained.
 */
export async function measureClicks(
  browser: BenchBrowser,
  ours: Contestant,
  { pairs: count }: { readonly pairs: number },
): Promise<Measurement[]> {
  await using server = await startServer(ours, pathOf(1))
  const ourPage = await openOurs(browser, server.origin)
  const barePage = await openBare(browser, server.origin)
  const dutifulPage = await openBare(browser, server.origin, '?duties')
  const asked: string[] = []
  const clickOurs = (step: Step): Promise<ClickTimes> =>
    watchRequests(ourPage, asked, () => ourPage.evaluate(clickToHeading, step))
  const clickOther = async (page: Page, step: Step): Promise<ClickTimes> => {
    await page.evaluate(focusLink, step.href)
    return page.evaluate(clickToHeading, step)
  }
  const pairs: { readonly ours: ClickTimes; readonly bare: ClickTimes; readonly dutiful: ClickTimes }[] = []
  for (let key = 2; key < 2 + WARM_UP_PAIRS + count; key += 1) {
    const step = { href: pathOf(key), heading: `Key ${key}` }
    await ourPage.evaluate(fetchAhead, step.href)
    await ourPage.evaluate(untilIdle)
    const bareFirst = key % 2 === 0 ? await clickOther(barePage, step) : undefined
    const time = await clickOurs(step)
    const dutiful = await clickOther(dutifulPage, step)
    const pair = { ours: time, dutiful, bare: bareFirst ?? (await clickOther(barePage, step)) }
    await checkSame(ourPage, barePage, step.href)
    await checkSame(ourPage, dutifulPage, step.href)
    if (key >= 2 + WARM_UP_PAIRS) pairs.push(pair)
  }
  browser.check()

  const compare = (
    until: keyof ClickTimes,
    other: 'bare' | 'dutiful',
  ): Pick<Measurement, 'value' | 'unit' | 'detail'> => {
    const ratios = pairs.map((pair) => pair.ours[until] / pair[other][until])
    /** The fastest is the one least disturbed: it shows what is left of a difference on a busy machine. */
    const milliseconds = (who: 'ours' | 'bare' | 'dutiful'): string => {
      const times = pairs.map((pair) => pair[who][until])
      return `${median(times).toFixed(2)} ms (fastest ${Math.min(...times).toFixed(2)})`
    }
    return {
      value: median(ratios),
      unit: '×',
      detail:
        `ours ${milliseconds('ours')}, the other ${milliseconds(other)}; ` +
        `${pairs.length} pairs, ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    }
  }
  return [
    {
      name: 'click to heading, fetched ahead',
      ...compare('heading', 'bare'),
      gate: { bound: '≤', limit: MOST_RATIO },
    },
    { name: '  until a frame with it is painted', ...compare('painted', 'bare') },
    { name: '  beside a swap with address and focus', ...compare('heading', 'dutiful') },
    {
      name: 'requests at these clicks',
      value: asked.length,
      unit: 'requests',
      gate: { bound: '≤', limit: 0 },
      detail: asked.length === 0 ? `${WARM_UP_PAIRS + count} clicks` : [...new Set(asked)].slice(0, 3).join(' '),
    },
  ]
}

async function openOurs(browser: BenchBrowser, origin: string): Promise<Page> {
  const context = await browser.open()
  const page = await context.newPage()
  await page.goto(origin + pathOf(1))
  await page.waitForFunction(() => history.state?.millrace !== undefined)
  await page.locator('h1').click() // React hydrates at once what is clicked
  return page
}

/** The bare page has the stylesheets of ours, since a commit of ours asks the browser for layout. */
async function openBare(browser: BenchBrowser, origin: string, search = ''): Promise<Page> {
  const html = await (await fetch(origin + pathOf(1))).text()
  const styles = [...html.matchAll(/<link\b[^>]*>/g)].map(([tag]) => tag).filter((tag) => tag.includes('"stylesheet"'))
  if (styles.length === 0) throw new Error(`${pathOf(1)} has no stylesheets.`)
  const context = await browser.open()
  const script = await bundleBarePage()
  await context.route(`${origin}${BARE_SCRIPT}`, (route) =>
    route.fulfill({ contentType: 'text/javascript; charset=utf-8', body: script }),
  )
  await context.route(`${origin}${BARE_PATH}${search}`, (route) =>
    route.fulfill({
      contentType: 'text/html; charset=utf-8',
      body: `<!doctype html><html lang="en"><head><meta charset="utf-8">${styles.join('')}
<script type="module" src="${BARE_SCRIPT}"></script></head><body></body></html>`,
    }),
  )
  const page = await context.newPage()
  await page.goto(origin + BARE_PATH + search)
  await page.getByRole('heading', { name: 'Key 1', exact: true }).waitFor()
  return page
}

/**
 * Notes every request between a click and the rest after it, but for the site's icon: Chromium asks for that itself
 * whenever the address changes, and finds it in its cache.
 */
async function watchRequests<Result>(page: Page, asked: string[], click: () => Promise<Result>): Promise<Result> {
  const icon = await page.evaluate(() => document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href)
  const note = (request: Request): void => {
    if (request.url() !== icon) asked.push(new URL(request.url()).pathname)
  }
  page.on('request', note)
  const result = await click()
  await page.evaluate(untilIdle)
  page.off('request', note)
  return result
}

/** A benchmark of different pages is worthless. */
async function checkSame(ourPage: Page, barePage: Page, path: string): Promise<void> {
  const [ours, bare] = await Promise.all([ourPage, barePage].map((page) => page.evaluate(shownPage)))
  if (ours !== bare) throw new Error(`${path}: the two pages differ.\nours ${ours}\nbare ${bare}`)
}

// What follows runs inside of the pages.

function focusLink(path: string): void {
  document.querySelector<HTMLAnchorElement>(`main a[href="${path}"]`)?.focus()
}

/** Has the router fetch a page ahead, by the focus: unlike a mouse it points at nothing once the page has changed. */
function fetchAhead(path: string): Promise<void> {
  const LIMIT_MS = 10_000
  return new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error(`${path} was not fetched ahead.`)), LIMIT_MS)
    const observer = new PerformanceObserver((list) => {
      if (!list.getEntriesByType('resource').some(({ name }) => new URL(name).pathname === `/_m/data${path}`)) return
      clearTimeout(late)
      observer.disconnect()
      done()
    })
    observer.observe({ type: 'resource' })
    document.querySelector<HTMLAnchorElement>(`main a[href="${path}"]`)?.focus()
  })
}

/** Two idle moments: what the first one starts has begun by the second. */
async function untilIdle(): Promise<void> {
  for (let moment = 0; moment < 2; moment += 1) await new Promise((idle) => requestIdleCallback(idle))
}

/** The elements of the page, without the moment that its loader ran at, and without what hydration and a navigation add. */
function shownPage(): string {
  const copy = document.querySelector('.site')?.cloneNode(true) as Element
  for (const element of copy.querySelectorAll('[data-testid="rendered-at"]')) element.textContent = ''
  for (const heading of copy.querySelectorAll('h1')) heading.removeAttribute('tabindex')
  return copy.outerHTML.replaceAll('<!-- -->', '')
}

/** In ms from the click. */
interface ClickTimes {
  /** The heading is there: the first microtask after the change, with its layout. */
  readonly heading: number
  /** The browser has painted a frame with it. */
  readonly painted: number
}

function clickToHeading({ href, heading }: Step): Promise<ClickTimes> {
  return new Promise((done, failed) => {
    const link = document.querySelector<HTMLAnchorElement>(`main a[href="${href}"]`)
    if (link === null) return failed(new Error(`No link to ${href}`))
    const observer = new MutationObserver(() => {
      if (document.querySelector('h1')?.textContent !== heading) return
      void document.body.offsetHeight
      const end = performance.now()
      observer.disconnect()
      // A frame's callbacks run before it is painted, and what they post runs after.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.addEventListener('message', () => done({ heading: end - start, painted: performance.now() - start }))
        port1.start()
        port2.postMessage(undefined)
      })
    })
    observer.observe(document, { subtree: true, childList: true, characterData: true })
    const start = performance.now()
    link.click()
  })
}
