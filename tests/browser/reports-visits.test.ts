import { untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import type { ReportSink } from '../support/report-sink.ts'
import { reportingTest as browserTest, untilReporting, type Report } from '../support/reporting-pages.ts'

const CLIENT = '/lab/crash/client'
const LOAD_VITALS = ['lcp', 'cls', 'fcp', 'ttfb']

const BLOCKED_MS = 300 // more than is good, and less than is poor

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

const measured = (report: Report | undefined): string[] => Object.keys((report?.['measurements'] as object) ?? {})

function traceIdOf(report: Report | undefined): string | undefined {
  return (report?.['contexts'] as { readonly trace: { readonly trace_id?: string } } | undefined)?.trace.trace_id
}

type Attributes = Readonly<Record<string, { readonly value: unknown }>>

/** Attributes of all spans that were sent by themselves. */
function interactionsOf({ requests }: ReportSink): readonly Attributes[] {
  const items = requests.flatMap(({ envelope }) => envelope?.items ?? []).filter(({ type }) => type === 'span')
  const spans = items.map(({ payload }) => JSON.parse(payload.toString()) as { items: { attributes: Attributes }[] })
  return spans.flatMap((span) => span.items.map(({ attributes }) => attributes))
}

describe('React', () => {
  browserTest('mends a document by rendering it again: reported once, as a warning', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: [/Minified React error #418/] })
    await page.route(`**${CLIENT}`, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace('Failures in the browser</h1>', 'Something else</h1>')
      expect(body).toContain('Something else')
      await route.fulfill({ response, body })
    })
    await page.goto(CLIENT)
    await page.getByRole('heading', { name: 'Failures in the browser' }).waitFor()
    expect(await until('event', 1)).toMatchObject([
      { level: 'warning', tags: { route: CLIENT, 'failure.kind': 'recoverable' }, contexts: { react: {} } },
    ])
    await settle()
    expect(reports('event')).toHaveLength(1)
  })

  browserTest('shows a boundary for what has failed: reported once, as a handled error', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: [/on purpose/] })
    await page.goto(CLIENT)
    await untilAlive(page)
    await untilReporting(page)
    await page.getByTestId('throw-render').click()
    expect(await until('event', 1)).toMatchObject([
      { level: 'error', exception: { values: [{ mechanism: { handled: true } }] } },
    ])
    await settle()
    expect(reports('event')).toHaveLength(1)
  })
})

describe('a page that was reached by a link', () => {
  browserTest(
    'and fails as it comes to the screen is reported by its own route, and not by the one before',
    async ({ visit }) => {
      const { page, until, settle, reports } = await visit({ allow: [/on purpose/] })
      await page.goto('/lab')
      await untilAlive(page)
      await untilReporting(page)
      await page.locator('a[href="/lab/crash/render"]').first().click()
      const [event] = await until('event', 1)
      expect(event).toMatchObject({ transaction: '/lab/crash/render', tags: { route: '/lab/crash/render' } })
      await settle()
      expect(reports('event')).toHaveLength(1)
    },
  )

  browserTest('reports with what the visitor did before, without queries', async ({ visit }) => {
    const { page, until } = await visit({ allow: [/on purpose/] })
    await page.goto('/lab?token=hidden')
    await untilAlive(page)
    await untilReporting(page)
    await page.locator(`a[href="${CLIENT}"]`).first().click()
    await page.getByTestId('throw-handler').click()
    const [event] = await until('event', 1)
    expect(event).toMatchObject({ transaction: CLIENT, tags: { route: CLIENT } })
    const crumbs = event?.['breadcrumbs'] as Report[]
    const steps = crumbs.filter(({ category }) => category === 'navigation' || category === 'ui.click')
    expect(steps.slice(-3)).toMatchObject([
      { category: 'ui.click' },
      { category: 'navigation', data: { from: '/lab', to: CLIENT } },
      { category: 'ui.click', message: expect.stringContaining('button') },
    ])
    expect(JSON.stringify(event)).not.toContain('hidden')
  })

  browserTest('and then says that it is none, or leads elsewhere, is not traced', async ({ visit }) => {
    const { page, until, settle, reports } = await visit()
    for (const [path, end] of [
      ['/lab/not-found/late', 'fallback'],
      ['/lab/redirect/late', 'landed'],
    ] as const) {
      await page.goto('/lab')
      await untilAlive(page)
      await untilReporting(page)
      await page.locator(`a[href="${path}"]`).first().click()
      if (end === 'landed') await page.waitForURL('**/lab/landed')
      else {
        await page.getByTestId(end).waitFor()
        await settle()
      }
    }
    // The page where it led to is traced: what was traced before has come by then.
    const isTraced = (): boolean => reports('transaction').some(({ transaction }) => transaction === '/lab/landed')
    for (let count = 1; !isTraced(); count += 1) await until('transaction', count)
    const names = reports('transaction').map(({ transaction }) => String(transaction))
    expect(names.filter((name) => name.includes('/late'))).toEqual([])
  })

  browserTest('has a trace of its own, and its vitals are not those of the load', async ({ visit, sink }) => {
    const { page, until, reports } = await visit({ allow: [/on purpose/] })
    await page.goto('/lab')
    await untilAlive(page)
    await untilReporting(page)
    await until('transaction', 1)
    await page.locator(`a[href="${CLIENT}"]`).first().click()
    await page.getByTestId('throw-handler').waitFor()
    const [load, navigation] = await until('transaction', 2)
    expect(navigation).toMatchObject({ transaction: CLIENT, contexts: { trace: { op: 'navigation' } } })
    expect(traceIdOf(navigation)).not.toBe(traceIdOf(load))
    expect(measured(load)).toEqual(expect.arrayContaining(['ttfb', 'fcp']))
    expect(measured(navigation).filter((name) => LOAD_VITALS.includes(name))).toEqual([])
    // An interaction that takes its time, on the second page.
    await page.evaluate(
      (blocked) =>
        addEventListener('click', () => {
          const end = performance.now() + blocked
          while (performance.now() < end);
        }),
      BLOCKED_MS,
    )
    await page.getByTestId('throw-handler').click()
    await page.evaluate(untilMeasured, BLOCKED_MS)
    await page.goto('/docs')
    // It is sent while the page goes, by the browser itself: whose it is can only be told by what it says.
    const slow = (): readonly Attributes[] =>
      interactionsOf(sink).filter(({ 'browser.web_vital.inp.value': inp }) => Number(inp?.value) >= BLOCKED_MS)
    await sink.until(() => slow().length > 0)
    // On a busy machine the click on the link may have been slow, too: on the first page.
    expect(slow()).toContainEqual(
      expect.objectContaining({
        'sentry.segment.name': expect.objectContaining({ value: CLIENT }),
        'browser.web_vital.inp.rating': expect.objectContaining({
          value: expect.stringMatching(/^(?:needs-improvement|poor)$/),
        }),
      }),
    )
    expect(reports('transaction').filter((one) => measured(one).includes('inp'))).toEqual([])
  })
})

/** Waits until an interaction that was so slow has been measured, and taken up by who does that in idle moments. */
function untilMeasured(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => {
      if (!list.getEntries().some(({ name, duration }) => name === 'click' && duration >= milliseconds)) return
      observer.disconnect()
      requestIdleCallback(() => resolve(), { timeout: 1_000 }) // as web-vitals
    })
    observer.observe({ type: 'event', buffered: true })
  })
}

browserTest('a document that says behind its shell that it is no page is not traced', async ({ visit }) => {
  const { page, until, reports } = await visit()
  // The name that a visitor is told apart by is taken for a crawler's, and those get the page as a whole.
  await page.route('**/late', (route) =>
    route.continue({ headers: { ...route.request().headers(), 'user-agent': BROWSER } }),
  )
  // The hole is filled before the SDK has come.
  await page.goto('/lab/not-found/late')
  await page.getByTestId('fallback').waitFor()
  await untilReporting(page)
  await page.goto('/lab/landed')
  await untilReporting(page)
  await page.goto('/lab')
  const isTraced = (): boolean => reports('transaction').some(({ transaction }) => transaction === '/lab/landed')
  for (let count = 1; !isTraced(); count += 1) await until('transaction', count)
  const names = reports('transaction').map(({ transaction }) => String(transaction))
  expect(names.filter((name) => name.includes('/late'))).toEqual([])
})
