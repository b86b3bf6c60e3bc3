import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { browserTest, type OpenPage } from '../support/browser.ts'
import { openDeployment, type Deployment } from '../support/router-app.ts'

const LATER_THAN_ANY_DOCUMENT_MS = 60_000

/** What a page says whose hole did not come: React renders it anew, and then learns that its data has not come either. */
const ALLOWED = [/ERR_/, /failed to provide this value\. Digest: none/, /could not finish this Suspense boundary|#419/]

/** Opens a page with a hole that would be filled after 9 s, as soon as the page around it is alive. */
async function openHole(open: OpenPage, gate: Deployment): Promise<Page> {
  const page = await open({ allow: ALLOWED })
  await page.clock.install()
  await page.goto(`${gate.origin}/lab/stream?delay=9000`, { waitUntil: 'commit' })
  await page.waitForFunction(() => history.state?.millrace !== undefined)
  expect(await page.evaluate(() => document.readyState)).toBe('loading')
  return page
}

function pending(page: Page): Promise<number> {
  return page.getByText('on its way').count()
}

/** The error page says that nothing has failed but the network; its way out asks the server. */
async function tryAgain(page: Page): Promise<void> {
  await page.getByTestId('error').waitFor()
  expect(await page.getByTestId('error').textContent()).toBe('This page has not arrived')
  await expect.poll(() => page.title()).toBe('Not arrived · Millrace')
  expect(await pending(page)).toBe(0)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByTestId('error').waitFor({ state: 'detached' })
  await page.getByTestId('shell').waitFor()
}

describe('a document that breaks off behind its shell', () => {
  browserTest('shows the error page where the hole was, when nothing can follow any more', async ({ open, server }) => {
    const gate = await openDeployment(server)
    onTestFinished(() => gate.close())
    const page = await openHole(open, gate)
    const broken = page.waitForEvent('requestfailed', (request) => request.isNavigationRequest())
    gate.deploy(server) // ends what is open
    await broken
    expect(await pending(page)).toBe(1)
    await page.clock.fastForward(LATER_THAN_ANY_DOCUMENT_MS)
    await tryAgain(page)
  })

  browserTest('does so at once where the visitor has stopped it', async ({ open, server }) => {
    const gate = await openDeployment(server)
    onTestFinished(() => gate.close())
    const page = await openHole(open, gate)
    await page.evaluate(() => window.stop())
    await tryAgain(page)
  })
})
