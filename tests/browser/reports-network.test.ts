import { untilAlive } from 'millrace/testing'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { reportingTest as browserTest, untilReporting } from '../support/reporting-pages.ts'

/** A service of another origin that takes requests from everywhere, headers of traces included. */
async function elsewhere(): Promise<{ readonly origin: string; readonly seen: readonly IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((req, res) => {
    if (req.method !== 'OPTIONS') seen.push(req.headers)
    res.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }).end('corn')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

describe('the trace of a page', () => {
  browserTest(
    'goes along with what it asks of its own site by fetch and XMLHttpRequest, and of no other',
    async ({ visit, server }) => {
      const other = await elsewhere()
      const { page } = await visit({ context: { bypassCSP: true } })
      await page.goto('/lab')
      await untilReporting(page)
      const own: Record<string, string | undefined> = {}
      page.on('request', (request) => {
        const { pathname, searchParams, origin } = new URL(request.url())
        if (origin === server.origin && pathname === '/healthz')
          own[searchParams.get('by') ?? ''] = request.headers()['sentry-trace']
      })
      const pageTrace = await page.evaluate(async (others) => {
        const byXhr = (url: string): Promise<unknown> =>
          new Promise((resolve, reject) => {
            const xhr = new XMLHttpRequest()
            xhr.open('GET', url)
            xhr.addEventListener('load', resolve)
            xhr.addEventListener('error', reject)
            xhr.send()
          })
        await fetch('/healthz?by=fetch')
        await fetch(new Request('/healthz?by=request'))
        await byXhr('/healthz?by=xhr')
        await fetch(`${others}/fetch`)
        await byXhr(`${others}/xhr`)
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
        return navigation?.serverTiming.find(({ name }) => name === 'sentry-trace')?.description ?? ''
      }, other.origin)
      expect(Object.keys(own).toSorted()).toEqual(['fetch', 'request', 'xhr'])
      for (const trace of Object.values(own))
        expect(trace).toMatch(new RegExp(`^${pageTrace.slice(0, 32)}-[0-9a-f]{16}-1$`))
      expect(other.seen).toHaveLength(2)
      for (const headers of other.seen) {
        expect(headers).not.toHaveProperty('sentry-trace')
        expect(headers).not.toHaveProperty('baggage')
      }
    },
  )
})

describe('a page without a network', () => {
  browserTest('keeps its reports in the browser, and sends each once when it is back', async ({ visit, sink }) => {
    const { page, until, settle, reports } = await visit({ allow: [/on purpose/, /ERR_INTERNET_DISCONNECTED/] })
    await page.goto('/lab/crash/client')
    await untilAlive(page)
    await untilReporting(page)
    await until('transaction', 1)
    await page.context().setOffline(true)
    await page.getByTestId('throw-handler').click()
    await page.getByTestId('reject').click()
    await expect.poll(() => page.evaluate(kept)).toBe(2)
    expect(reports('event')).toEqual([])
    await page.context().setOffline(false)
    await page.reload()
    const events = await until('event', 2)
    expect(
      events.map(({ exception }) => (exception as { values: { value: string }[] }).values[0]?.value).toSorted(),
    ).toEqual(['The lab event handler failed on purpose', 'The lab promise was rejected on purpose'])
    await settle()
    expect(reports('event')).toHaveLength(2)
    // What has come is not told as lost as well.
    expect(sink.requests.map(({ body }) => String(body)).filter((text) => text.includes('network_error'))).toEqual([])
  })
})

/** Envelopes that wait in the browser's own store. */
async function kept(): Promise<number> {
  const known = await indexedDB.databases()
  if (!known.some(({ name }) => name === 'millrace-reports')) return 0
  const opened = indexedDB.open('millrace-reports')
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opened.addEventListener('success', () => resolve(opened.result))
    opened.addEventListener('error', () => reject(new Error('The store cannot be opened')))
  })
  try {
    const [store] = database.objectStoreNames
    if (store === undefined) return 0
    const counted = database.transaction(store).objectStore(store).count()
    return await new Promise((resolve) => counted.addEventListener('success', () => resolve(counted.result)))
  } finally {
    database.close()
  }
}
