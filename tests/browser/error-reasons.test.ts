/** The error page says what has happened: a network that fails is no failure, and 503 is not 500. */
import { isSameDocument, untilAlive } from 'millrace/testing'
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { openDeployment } from '../support/router-app.ts'
import { heading } from '../support/router-page.ts'

/** Follows a link that the page does not have. */
async function follow(page: Page, href: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement('a')
    link.href = to
    link.textContent = to
    document.querySelector('main')?.append(link)
  }, href)
  await page.getByText(href, { exact: true }).click()
}

const shown = (page: Page) => page.locator('.fallback-status')

describe('the error page', () => {
  browserTest('of a hole that is lost on the way: it comes when the network is back', async ({ open, server }) => {
    const gate = await openDeployment(server)
    onTestFinished(() => gate.close())
    const page = await open({ allow: [/ERR_|network error/, /failed to provide this value. Digest: none/] })
    await page.goto(`${gate.origin}/lab`)
    await untilAlive(page)
    await follow(page, '/lab/stream?delay=3000')
    await page.getByTestId('shell').waitFor()
    await page.context().setOffline(true)
    gate.deploy(server) // ends what is open
    await heading(page, 'This page has not arrived')
    expect(await shown(page).count()).toBe(0)
    await expect.poll(() => page.title()).toBe('Not arrived · Millrace')
    await page.context().setOffline(false)
    await page.getByTestId('deferred').waitFor()
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest('of what is unavailable says 503, as a document and by the client router', async ({ open }) => {
    const page = await open({ allow: [/responded with a status of 503 /] })
    await page.goto(`/lab/flaky/${randomUUID()}?fail=9`)
    await shown(page).getByText('503', { exact: true }).waitFor()
    await untilAlive(page)
    expect(await shown(page).innerText()).toBe('503')
    await page.goto('/lab')
    await untilAlive(page)
    await follow(page, `/lab/flaky/${randomUUID()}?fail=9`)
    await shown(page).getByText('503', { exact: true }).waitFor({ timeout: 20_000 })
    expect(await page.getByTestId('error').textContent()).toContain('server-side')
  })

  browserTest('of a server with too much to do says so', async ({ open, server }) => {
    const { buildId } = (await (await fetch(`${server.origin}/_m/build.json`)).json()) as { buildId: string }
    const page = await open({ allow: [/responded with a status of 503 /] })
    await page.goto('/lab')
    await untilAlive(page)
    await page.route('**/_m/data/lab/cache/7*', (route) =>
      route.fulfill({ status: 503, headers: { 'X-Millrace-Build': buildId }, body: 'Too busy' }),
    )
    await follow(page, '/lab/cache/7')
    await heading(page, 'Too busy')
    expect(await shown(page).innerText()).toBe('503')
  })

  browserTest('of what fails in the browser says that, and no status', async ({ open }) => {
    const page = await open({ allow: [/on purpose/] })
    await page.goto('/lab/crash/client')
    await untilAlive(page)
    await page.getByTestId('throw-render').click()
    await heading(page, 'Application error: a client-side exception has occurred')
    expect(await shown(page).count()).toBe(0)
  })
})
