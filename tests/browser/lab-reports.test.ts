import { untilAlive } from 'millrace/testing'
import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { browserTest, JAVASCRIPT } from '../support/browser.ts'
import { untilReporting } from '../support/reporting-pages.ts'
import { sendReport } from '../support/send-report.ts'

const newId = (): string => randomUUID().replaceAll('-', '')

/** A place in the middle of a built file: its beginning imports others. */
async function builtFrame(origin: string): Promise<object> {
  const html = await (await fetch(`${origin}/lab`)).text()
  const filename = origin + (/\/_m\/assets\/client-[\w-]+\.js/.exec(html)?.[0] ?? '')
  const lines = (await (await fetch(filename)).text()).trimEnd().split('\n')
  return { filename, function: 'a', lineno: lines.length, colno: Math.floor((lines.at(-1) ?? '').length / 2) }
}

describe.for(JAVASCRIPT)('the inbox, JavaScript $name', ({ javaScript }) => {
  browserTest('shows a reported failure, its place in the sources and its other side', async ({ open, server }) => {
    const message = `stuck ${newId().replaceAll(/\d/g, 'x')}`
    const trace = { contexts: { trace: { trace_id: newId() } } }
    const frames = [await builtFrame(server.origin)]
    const values = [{ type: 'MillError', value: message, stacktrace: { frames } }]
    await sendReport(server.origin, { message: `server side of ${message}`, platform: 'node', ...trace })
    await sendReport(server.origin, { exception: { values }, platform: 'javascript', ...trace })

    const page = await open({ javaScript })
    await page.goto('/lab/reports')
    const entry = page.getByTestId('reports').getByRole('link', { name: `MillError: ${message}` })
    await entry.click()
    await page.getByTestId('report-title').getByText(message).waitFor()
    expect(await page.getByTestId('report-side').innerText()).toBe('browser')
    expect(await page.getByTestId('report-frames').innerText()).toMatch(/^(?:src|node_modules)\/[\w./-]+:\d+:\d+$/)
    await page.getByTestId('report-trace-items').getByRole('link').click()
    await page.getByTestId('report-title').getByText(`server side of ${message}`).waitFor()
  })
})

browserTest('the inbox shows where a page has failed, in its sources', async ({ open }) => {
  const page = await open({ allow: [/on purpose/] })
  await page.goto('/lab/crash/client')
  await untilAlive(page)
  await untilReporting(page)
  const taken = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByTestId('throw-handler').click()
  await taken
  await page.goto('/lab/reports')
  await page.getByTestId('reports').getByRole('link', { name: 'The lab event handler failed on purpose' }).click()
  const frames = page.getByTestId('report-frames')
  await frames.waitFor()
  expect(await frames.innerText()).toMatch(/^src\/app\/lab\/crash\/client-page\.tsx:\d+:\d+$/m)
})
