import { untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { statusComplaint } from '../support/page-complaints.ts'
import { reportingTest as browserTest, untilReporting, type Report } from '../support/reporting-pages.ts'

const ON_PURPOSE = [/on purpose/]
const CLIENT = '/lab/crash/client'

interface TraceContext {
  readonly trace_id?: string
  readonly parent_span_id?: string
  readonly data?: object
}

function traceOf(report: Report | undefined): TraceContext {
  const contexts = report?.['contexts'] as { readonly trace: TraceContext } | undefined
  return contexts?.trace ?? {}
}

/** Clicks on a link that nothing was fetched ahead for. */
function follow(path: string): void {
  const link = Object.assign(document.createElement('a'), { href: path })
  document.body.append(link)
  link.click()
}

const tracedOn = (route: string) => ({
  tags: { route },
  transaction: route,
  contexts: { trace: { trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) } },
})

describe('a failure in the page is reported once, with route and trace', () => {
  browserTest('in an event handler', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: ON_PURPOSE })
    await page.goto(CLIENT)
    await untilAlive(page)
    await untilReporting(page)
    await page.getByTestId('throw-handler').click()
    const [event] = await until('event', 1)
    expect(event).toMatchObject({
      ...tracedOn(CLIENT),
      platform: 'javascript',
      exception: { values: [{ value: 'The lab event handler failed on purpose', mechanism: { handled: false } }] },
      debug_meta: {
        images: expect.arrayContaining([
          {
            type: 'sourcemap',
            code_file: expect.stringMatching(/\/_m\/assets\/client-page-\w{8}\.js$/),
            debug_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          },
        ]),
      },
    })
    await settle()
    expect(reports('event')).toHaveLength(1)
  })

  browserTest('in a render, with the components around it', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: ON_PURPOSE })
    await page.goto(CLIENT)
    await untilAlive(page)
    await untilReporting(page)
    await page.getByTestId('throw-render').click()
    const [event] = await until('event', 1)
    expect(event).toMatchObject({
      ...tracedOn(CLIENT),
      tags: { route: CLIENT, 'failure.kind': 'caught' },
      contexts: { react: { componentStack: expect.stringContaining('at ') } },
    })
    await settle()
    expect(reports('event')).toHaveLength(1)
  })

  browserTest('in a promise that nobody listens to', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: ON_PURPOSE })
    await page.goto(CLIENT)
    await untilAlive(page)
    await untilReporting(page)
    await page.getByTestId('reject').click()
    expect(await until('event', 1)).toMatchObject([{ ...tracedOn(CLIENT), tags: { 'failure.kind': 'rejection' } }])
    await settle()
    expect(reports('event')).toHaveLength(1)
  })

  browserTest('before the SDK has come, at the time when it happened', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: [/too early/] })
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/_m/assets/reports-*.js', async (route) => {
      await held
      await route.continue()
    })
    await page.addInitScript(() =>
      addEventListener('DOMContentLoaded', () => {
        throw new Error('too early')
      }),
    )
    await page.goto('/lab')
    const before = Date.now() / 1_000
    release()
    const [event] = await until('event', 1)
    expect(event).toMatchObject({ ...tracedOn('/lab'), exception: { values: [{ value: 'too early' }] } })
    expect(event?.['timestamp']).toBeLessThan(before)
    await settle()
    expect(reports('event')).toHaveLength(1)
  })

  browserTest('in the last moment of the page', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: [/too late/] })
    await page.goto('/lab')
    await untilReporting(page)
    await page.evaluate(() =>
      addEventListener('pagehide', () => {
        throw new Error('too late')
      }),
    )
    await page.goto('/docs')
    expect(await until('event', 1)).toMatchObject([
      { ...tracedOn('/lab'), exception: { values: [{ value: 'too late' }] } },
    ])
    await settle()
    expect(reports('event')).toHaveLength(1)
  })

  browserTest('where the page is left before the SDK has come', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: [/too early/, /reports-/] })
    await page.route('**/_m/assets/reports-*.js', (route) => route.abort())
    await page.addInitScript(() => {
      if (location.pathname !== '/lab') return
      addEventListener('DOMContentLoaded', () => {
        throw new TypeError('too early')
      })
    })
    await page.goto('/lab')
    await page.unroute('**/_m/assets/reports-*.js')
    await page.goto('/docs')
    const [event] = await until('event', 1)
    expect(event).toMatchObject({
      tags: { route: expect.stringMatching(/\/lab$/) },
      contexts: { trace: { trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) } },
      exception: { values: [{ type: 'TypeError', value: 'too early' }] },
    })
    await settle()
    expect(reports('event')).toHaveLength(1)
  })
})

describe('what is no failure is not reported', () => {
  browserTest('redirects, refusals and navigations that are given up', async ({ visit, sink }) => {
    const { page, until, settle, reports } = await visit({ allow: [401, 403, 404].map(statusComplaint) })
    for (const path of ['/lab/not-found', '/lab/forbidden', '/lab/unauthorized', '/nowhere']) {
      await page.goto(path)
      await untilReporting(page)
    }
    await page.goto('/lab/redirect/temporary')
    await untilAlive(page)
    await untilReporting(page)
    // By the router: the last one is overtaken by the next, which is traced.
    for (const path of ['/lab/forbidden', '/lab/redirect/temporary', '/lab/unauthorized', '/lab/not-found']) {
      await page.evaluate(follow, path)
      await page.getByTestId(path.includes('redirect') ? 'landed' : 'fallback').waitFor()
    }
    await page.evaluate(follow, '/lab/slow/2000')
    await page.evaluate(follow, '/lab/params/overtaken')
    await page.getByText('overtaken').first().waitFor()
    const isTraced = (): boolean => reports('transaction').some(({ transaction }) => transaction === '/lab/params/[id]')
    for (let count = 1; !isTraced(); count += 1) await until('transaction', count)
    await settle()
    expect(reports('event')).toEqual([])
    const names = reports('transaction').map(({ transaction }) => transaction)
    expect(new Set(names)).toEqual(new Set(['/lab/landed', '/lab/params/[id]']))
    const ofServer = sink.requests
      .flatMap(({ envelope }) => envelope?.items ?? [])
      .map(({ payload }) => String(payload))
    expect(
      ofServer.filter((text) => /"transaction":"GET [^"]*(?:forbidden|unauthorized|not-found|temporary)/.test(text)),
    ).toEqual([])
  })

  browserTest('a failure that the server has reported is not reported again by the page', async ({ visit, sink }) => {
    const { page, settle, reports } = await visit({ allow: [statusComplaint(500), /on purpose|digest|Minified/i] })
    await page.goto('/lab/crash/late')
    await untilReporting(page)
    await settle()
    expect(reports('event')).toEqual([])
    await sink.until(({ requests }) => requests.some(({ body }) => body.includes('"platform":"node"')))
  })
})

describe('traces', () => {
  browserTest('a page load goes on with the trace of the server, rated by its web vitals', async ({ visit, sink }) => {
    const { page, until } = await visit()
    await page.addInitScript(() =>
      addEventListener('load', () => {
        // Pushes the page down by so much that it is no longer good, as a late banner does.
        const styles = new CSSStyleSheet()
        styles.replaceSync('body { padding-top: 60vh }')
        requestAnimationFrame(() => requestAnimationFrame(() => document.adoptedStyleSheets.push(styles)))
      }),
    )
    await page.goto('/lab/params/1?token=hidden#hidden')
    const [load] = await until('transaction', 1)
    expect(load).toMatchObject({
      transaction: '/lab/params/[id]',
      transaction_info: { source: 'route' },
      contexts: { trace: { op: 'pageload' } },
      measurements: { lcp: { unit: 'millisecond' }, fcp: { unit: 'millisecond' }, ttfb: { unit: 'millisecond' } },
    })
    const { trace_id: id, parent_span_id: parent, data } = traceOf(load)
    for (const vital of ['lcp', 'fcp', 'ttfb']) {
      expect(data).toHaveProperty([`browser.web_vital.${vital}.rating`], expect.stringMatching(/^(?:good|needs|poor)/))
    }
    expect(data).toHaveProperty(['browser.web_vital.cls.rating'], expect.stringMatching(/^(?:needs-improvement|poor)$/))
    expect(JSON.stringify(load)).not.toContain('hidden')
    await sink.until(({ requests }) =>
      requests.some(
        ({ body }) =>
          body.includes(`"span_id":"${parent}"`) && body.includes('"op":"http.server"') && body.includes(String(id)),
      ),
    )
  })

  browserTest('a page load without a layout shift is one with a good CLS', async ({ visit }) => {
    const { page, until } = await visit()
    await page.goto('/lab/bench/hello')
    const [load] = await until('transaction', 1)
    expect(load).toMatchObject({ measurements: { cls: { value: 0 } } })
    expect(traceOf(load).data).toHaveProperty(['browser.web_vital.cls.rating'], 'good')
  })

  browserTest('a reload that finds nothing changed has a trace of its own', async ({ visit }) => {
    const { page, until } = await visit()
    await page.goto('/lab')
    await until('transaction', 1)
    const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/lab')
    await page.reload()
    await answer
    const loads = await until('transaction', 2)
    const ids = loads.map((load) => traceOf(load).trace_id)
    expect(new Set(ids).size).toBe(2)
  })

  browserTest('a navigation is named by its route, and the server goes on with its trace', async ({ visit, sink }) => {
    const { page, until } = await visit()
    await page.goto('/lab')
    await untilAlive(page)
    await untilReporting(page)
    await until('transaction', 1)
    await page.evaluate(follow, '/lab/params/777')
    const [, navigation] = await until('transaction', 2)
    expect(navigation).toMatchObject({
      contexts: { trace: { op: 'navigation' } },
      transaction: '/lab/params/[id]',
    })
    const { trace_id: id = '' } = traceOf(navigation)
    await sink.until(({ requests }) =>
      requests.some(({ body }) => body.includes('GET /_m/data/lab/params') && body.includes(id)),
    )
  })
})
