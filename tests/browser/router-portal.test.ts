import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Route } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, pathOf, recordDocuments } from '../support/router-page.ts'

const DATA = /_m\/data\/mills\/1/
const PAGE = '<!DOCTYPE html><title>Portal</title><link rel="icon" href="data:,"><h1>Pay first</h1>'
const COMPLAINTS = [/Failed to load route data/, /responded with a status of 511 /]

/** What stands between a visitor and the site. */
const portal = (status: number) => (route: Route) => route.fulfill({ status, contentType: 'text/html', body: PAGE })

describe('a portal answers in the place of the site', () => {
  async function payFirst(open: OpenPage, status: number): Promise<void> {
    const page = await open({ allow: COMPLAINTS })
    await page.goto('/')
    await untilAlive(page)
    const documents = recordDocuments(page)
    await page.route('**/mills/**', portal(status))
    await clickLink(page, '/mills/1')
    await page.locator('h1', { hasNotText: 'Home' }).waitFor()
    expect(await page.locator('h1').textContent()).toBe('Pay first')
    expect(pathOf(page)).toBe('/mills/1')
    expect(documents).toEqual(['/mills/1'])

    // Who has paid loads the page once more, and all is as before.
    await page.unroute('**/mills/**')
    await page.reload()
    await untilAlive(page)
    await clickLink(page, '/mills/2')
    await heading(page, 'Mill 2')
    expect(await isSameDocument(page)).toBe(true)
  }

  browserTest('the visitor sees it, as by one document load', ({ open }) => payFirst(open, 200))

  browserTest('the visitor sees it with status 511 as well', ({ open }) => payFirst(open, 511))

  browserTest('to something fetched ahead: nothing is kept of it, and a click asks again', async ({ open }) => {
    const page = await open({ allow: COMPLAINTS })
    await page.goto('/ahead')
    await untilAlive(page)
    await page.route(DATA, portal(200))
    await page.evaluate(() => document.querySelectorAll('nav').forEach((nav) => (nav.dataset['prefetch'] = 'intent')))
    const answered = page.waitForResponse(DATA)
    await page.getByRole('link', { name: '/mills/1', exact: true }).hover()
    await answered
    await page.unroute(DATA)
    await clickLink(page, '/mills/1')
    await heading(page, 'Mill 1')
    expect(await isSameDocument(page)).toBe(true)
  })
})
