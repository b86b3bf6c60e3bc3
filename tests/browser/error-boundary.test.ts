/** A part of a page fails, and the rest of the page stays. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { clickLink, heading } from '../support/router-page.ts'
import { browserTest } from '../support/typed-page.ts'

const FAILED = {
  allow: [/The server failed to provide this value/, /The part failed/, /^uncaught: Minified React error #419;/],
}

const failed = (page: Page) => page.getByTestId('failed')

describe('a part that fails', () => {
  browserTest('shows its fallback with the digest of the log, and the page stays', async ({ open }) => {
    const page = await open(FAILED)
    const answer = await page.goto('/part')
    expect(answer?.status()).toBe(200)
    await failed(page).waitFor()
    expect(await failed(page).textContent()).toBe('Failed on the server: server')
    expect(await page.getByTestId('digest').textContent()).toMatch(/^[0-9a-f]{12}$/)
    await heading(page, 'Part')
    expect(await page.getByLabel('beside').isVisible()).toBe(true)
    expect(await page.title()).toBe('Typed')
  })

  browserTest('does so too where the client router has brought the page', async ({ open }) => {
    const page = await open(FAILED)
    await page.goto('/')
    await untilAlive(page)
    await clickLink(page, 'Part')
    await heading(page, 'Part')
    await failed(page).waitFor()
    expect(await page.getByTestId('digest').textContent()).toMatch(/^[0-9a-f]{12}$/)
  })

  browserTest('is there after another try, with what was typed beside it', async ({ open }) => {
    const page = await open(FAILED)
    await page.goto('/part?how=once')
    await untilAlive(page)
    await failed(page).waitFor()
    await page.getByLabel('beside').fill('typed')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByTestId('late').getByText('The late value').waitFor()
    expect(await page.getByLabel('beside').inputValue()).toBe('typed')
  })

  browserTest('does not take what the visitor types before it fails', async ({ open }) => {
    const page = await open(FAILED)
    await page.goto('/part?how=well')
    await untilAlive(page)
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /draft-keeper/.test(name)),
    )
    await page.getByLabel('inside').fill('half a thought')
    await page.getByRole('button', { name: 'Break' }).click()
    await failed(page).waitFor()
    await page.getByRole('button', { name: 'Break' }).click()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByTestId('late').waitFor()
    await expect.poll(() => page.getByLabel('inside').inputValue()).toBe('half a thought')
  })

  browserTest('is contained where its render fails on the server', async ({ open }) => {
    const page = await open(FAILED)
    const answer = await page.goto('/part?how=render')
    expect(answer?.status()).toBe(200)
    await failed(page).waitFor()
    await heading(page, 'Part')
  })

  browserTest('lets a refusal pass to the page', async ({ open }) => {
    const page = await open(FAILED)
    await page.goto('/part?how=missing')
    await heading(page, 'The page failed')
    expect(await failed(page).count()).toBe(0)
  })

  browserTest('says so at the end of the page where no script runs', async ({ open }) => {
    const page = await open({ javaScript: false })
    await page.goto('/part')
    expect(await page.locator('noscript [role=alert]').textContent()).toMatch(/Digest: [0-9a-f]{12}/)
    await heading(page, 'Part')
  })
})
