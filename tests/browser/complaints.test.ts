import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { recordComplaints } from '../support/page-complaints.ts'
import type { Complaints } from '../support/page-complaints.ts'
import type { Browser } from 'playwright-core'

/** Shows a page whose body is given, and gives what the browser complained about. */
async function complaintsOf(browser: Browser, body: string, javaScriptEnabled = true): Promise<Complaints> {
  const server = createServer((request, response) => {
    if (request.url === '/cut') response.writeHead(200, { 'content-length': 9 }).write('x', () => response.destroy())
    else if (request.url === '/page') response.setHeader('content-type', 'text/html').end(`<!doctype html>${body}`)
    else if (request.url !== '/slow') response.writeHead(request.url === '/favicon.ico' ? 204 : 404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const context = await browser.newContext({ javaScriptEnabled })
  onTestFinished(async () => {
    await context.close()
    server.close()
    server.closeAllConnections()
  })
  const complaints = recordComplaints(context, javaScriptEnabled)
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`, { waitUntil: 'networkidle' })
  return complaints
}

describe('what a page does wrong is heard', () => {
  browserTest.for([
    ['a console error', '<script>console.error("oh")</script>', /^console\.error: oh/],
    ['a console warning', '<script>console.warn("hm")</script>', /^console\.warning: hm/],
    ['an uncaught error', '<script>throw new Error("lost")</script>', /^uncaught: .*lost/],
    ['an unhandled rejection', '<script>Promise.reject(new Error("late"))</script>', /^uncaught: .*late/],
    ['a missing file', '<img alt="" src="/missing.png">', /^console\.error: .*status of 404/],
    [
      'a truncated answer',
      '<script>fetch("/cut").then((a) => a.text()).catch(() => 0)</script>',
      /^request failed: .*\/cut/,
    ],
    ['a request to somewhere else', '<img alt="" src="https://example.invalid/x.png">', /^left the machine: .*example/],
  ] as const)('%s', async ([, body, expected], { browser }) => {
    expect(await complaintsOf(browser, body)).toContainEqual(expect.stringMatching(expected))
  })

  browserTest('a missing file, without JavaScript', async ({ browser }) => {
    const complaints = await complaintsOf(browser, '<img alt="" src="/missing.png">', false)
    expect(complaints).toContainEqual(expect.stringMatching(/status of 404/))
  })

  browserTest('a missing script', async ({ browser }) => {
    const body = '<script type="module" src="/a.js"></script>'
    expect(await complaintsOf(browser, body)).toContainEqual(expect.stringMatching(/status of 404/))
  })
})

describe('what is no fault is no complaint', () => {
  browserTest.for([
    ['a quiet page', '<h1>Hello</h1>'],
    ['a log line', '<script>console.log("fine")</script>'],
    [
      'a fetch its page gave up',
      '<script>const c = new AbortController(); fetch("/slow", c).catch(() => 0); c.abort()</script>',
    ],
  ] as const)('%s', async ([, body], { browser }) => {
    expect(await complaintsOf(browser, body)).toEqual([])
  })

  browserTest('a script, without JavaScript', async ({ browser }) => {
    const body = '<link rel="modulepreload" href="/a.js"><script type="module" src="/a.js"></script>'
    expect(await complaintsOf(browser, body, false)).toEqual([])
  })
})
