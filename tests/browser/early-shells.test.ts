import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { routerTest as browserTest } from '../support/router-app.ts'
import { heading } from '../support/router-page.ts'

/** Opens an early page whose loader waits, as soon as its shell is alive. */
async function openShell(open: OpenPage, key: string, options?: Parameters<OpenPage>[0]): Promise<Page> {
  const page = await open(options)
  await page.goto(`/early/${key}`, { waitUntil: 'commit' })
  await page.getByRole('button', { name: 'shell 0' }).waitFor()
  if (options?.javaScript !== false) await page.waitForFunction(() => history.state?.millrace !== undefined)
  return page
}

const openGate = (page: Page, key: string, outcome = 'mill') =>
  page.request.post(`/early/${key}/gate`, { data: outcome, headers: { 'Content-Type': 'text/plain' } })

const click = (page: Page, name: string) => page.getByRole('button', { name }).click()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).waitFor()

describe('a page that is sent before its loader is done', () => {
  browserTest('is alive around the hole, then in it, and is one like any other from there', async ({ open }) => {
    const page = await openShell(open, 'life')
    const asked: string[] = []
    page.on('request', (request) => void (request.url().includes('/_m/data/early') && asked.push(request.url())))
    expect(await page.evaluate(() => document.readyState)).toBe('loading')
    expect(await page.title()).toBe('Early')
    await click(page, 'shell 0')
    await button(page, 'shell 1')
    await openGate(page, 'life')
    await heading(page, 'Run 1 1')
    const id = await page.locator('h1').getAttribute('id')
    await click(page, 'page 0')
    await button(page, 'page 1')
    await click(page, 'refresh')
    await heading(page, 'Run 2 2')
    await button(page, 'page 1')
    await button(page, 'shell 1')
    expect([await page.locator('h1').getAttribute('id'), asked.length]).toEqual([id, 1])
  })

  browserTest('is kept, and dropped by its tags, by what its loader says at its end', async ({ open }) => {
    const page = await openShell(open, 'facts')
    const asked: string[] = []
    page.on('request', (request) => void (request.url().includes('/_m/data/early') && asked.push(request.url())))
    await openGate(page, 'facts')
    await heading(page, 'Run 1 1')
    await page.waitForLoadState()
    await click(page, 'drop another')
    await page.getByRole('link', { name: '/mills/1' }).click()
    await heading(page, 'Mill 1')
    await page.goBack()
    await heading(page, 'Run 1 1')
    expect(asked).toEqual([])
    await click(page, 'drop its tag')
    await heading(page, 'Run 2 2')
  })

  browserTest('shows what its loader decides inside the layouts, or goes where that sends it', async ({ open }) => {
    const refused = await openShell(open, 'refused')
    await openGate(refused, 'refused', 'not-found')
    await heading(refused, 'No such page')
    expect(await refused.getByRole('navigation').count()).toBe(1)
    expect(await refused.locator('meta[name=robots][content=noindex]').count()).toBeGreaterThan(0)
    const failed = await openShell(open, 'failed', { allow: [/server failed to provide this value|#419/] })
    await openGate(failed, 'failed', 'fail')
    await heading(failed, 'Failed on the server')
    const sent = await openShell(open, 'sent')
    await openGate(sent, 'sent', 'redirect')
    await heading(sent, 'Mill 1')
  })

  browserTest('can be left while it waits', async ({ open }) => {
    const page = await openShell(open, 'left')
    await page.getByRole('link', { name: '/mills/1' }).click()
    await heading(page, 'Mill 1')
    await openGate(page, 'left', 'redirect')
    await page.waitForLoadState()
    await heading(page, 'Mill 1')
    expect(new URL(page.url()).pathname).toBe('/mills/1')
  })

  browserTest('without scripts, follows at the end of the page, and is sent on', async ({ open }) => {
    const page = await openShell(open, 'bare', { javaScript: false })
    await openGate(page, 'bare')
    await heading(page, 'Run 1 1')
    await page.getByText('On its way').waitFor({ state: 'hidden' })
    const sent = await openShell(open, 'bare-sent', { javaScript: false })
    await openGate(sent, 'bare-sent', 'redirect')
    await heading(sent, 'Mill 1')
  })
})
