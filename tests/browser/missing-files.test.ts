/** What a visitor sees where a file of the page does not load, or the server has gone. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { readShown, SHEETS } from '../support/fallback-ways.ts'
import { fallbacksTest as browserTest, openDeployment, type Deployment } from '../support/router-app.ts'

const ERROR_PAGE = /\/error-[^/]*\.js$/
const AREA_PAGE = /\/area-page-[^/]*\.js$/
const ROUTER = /\/start-router-[^/]*\.js$/

/** The browser's own lines, and what is said of a hole that was not filled. */
const ALLOWED = [
  /ERR_|status of 404|dynamically imported module|Failed to load/,
  /failed to provide this value/,
  /could not finish this Suspense boundary|#419/,
  /on purpose/,
  /^uncaught: $/,
]

const LATER_THAN_ANY_DOCUMENT_MS = 60_000

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)
const spoken = (page: Page) => page.locator('#millrace-announcer').textContent()

describe('a server that goes away in the middle of a document', () => {
  /** Opens a page with a hole, as soon as it is alive and has had time to fetch its error page. */
  async function openHole(open: OpenPage, gate: Deployment, missing: RegExp | undefined): Promise<Page> {
    const page = await open({ allow: ALLOWED })
    if (missing) await page.route(missing, (route) => route.abort())
    await page.clock.install()
    const asked = page.waitForRequest(ERROR_PAGE)
    await page.goto(`${gate.origin}/area/slow`, { waitUntil: 'commit' })
    await page.waitForFunction(() => history.state?.millrace !== undefined)
    await page.clock.runFor(1_000)
    await (await asked).response()
    expect(await page.evaluate(() => document.readyState)).toBe('loading')
    return page
  }

  browserTest('leaves the error page, whose code and styles are there already', async ({ open, server }) => {
    const gate = await openDeployment(server)
    onTestFinished(() => gate.close())
    const page = await openHole(open, gate, undefined)
    await expect.poll(() => page.locator('link[href*="/error-"][rel=stylesheet]').count()).toBe(1)
    const ended = page.waitForEvent('requestfailed', (request) => request.isNavigationRequest())
    gate.close()
    await ended
    await page.clock.fastForward(LATER_THAN_ANY_DOCUMENT_MS)
    await expect
      .poll(() => page.evaluate(readShown, [...SHEETS]))
      .toEqual({ heading: 'Failed on the server', title: 'Failed · Fallbacks', applied: 'area error site' })
    await page.clock.runFor(1_000)
    expect(await focused(page)).toBe('Failed on the server')
    expect(await spoken(page)).toBe('Failed · Fallbacks')
    expect(await page.getByRole('link', { name: 'Home' }).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1)
  })

  browserTest('leaves a last resort with ways on where the error page is missing too', async ({ open, server }) => {
    const gate = await openDeployment(server)
    onTestFinished(() => gate.close())
    const page = await openHole(open, gate, ERROR_PAGE)
    const ended = page.waitForEvent('requestfailed', (request) => request.isNavigationRequest())
    gate.deploy(server)
    await ended
    await page.clock.fastForward(LATER_THAN_ANY_DOCUMENT_MS)
    const heading = 'Application error: a server-side exception has occurred'
    await page.getByRole('heading', { name: heading }).waitFor()
    await page.clock.runFor(5_000)
    await expect.poll(() => page.title()).toBe('Application error')
    await expect.poll(() => focused(page)).toBe(heading)
    await page.clock.runFor(1_000)
    expect(await spoken(page)).toBe('Application error')
    // In the look of the site.
    expect((await page.evaluate(readShown, [...SHEETS])).applied).toContain('site')
    expect(await page.getByRole('link', { name: 'Home' }).getAttribute('href')).toBe('/')
    const document = page.waitForRequest((request) => request.isNavigationRequest())
    await page.getByRole('link', { name: 'Reload' }).click()
    expect(new URL((await document).url()).pathname).toBe('/area/slow')
  })
})

describe('a server that has gone, as far as anybody knows with a network', () => {
  browserTest.for([
    ['a page with a loader', '/area/missing'],
    ['a page without one', '/area/throws'],
  ] as const)(
    'leaves the error page after a click on %s, and no page of the browser',
    async ([, path], { open, server }) => {
      const gate = await openDeployment(server)
      onTestFinished(() => gate.close())
      const page = await open({ allow: ALLOWED })
      const fetched = page.waitForResponse((response) => ERROR_PAGE.test(response.url()))
      await page.goto(`${gate.origin}/area`)
      await untilAlive(page)
      await (await fetched).finished()
      await expect.poll(() => page.locator('link[href*="/error-"][rel=stylesheet]').count()).toBe(1)
      gate.close()
      await page.getByRole('link', { name: path, exact: true }).click()
      await page.getByRole('heading', { name: 'Failed on the client' }).waitFor()
      expect(await focused(page)).toBe('Failed on the client')
      expect(new URL(page.url()).pathname).toBe(path)
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1)
    },
  )
})

describe('a page whose error page does not load', () => {
  browserTest('gets it later, once it can be loaded', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    await page.route(ERROR_PAGE, (route) => route.abort())
    await page.goto('/area')
    await untilAlive(page)
    await page.getByRole('button', { name: 'Throw' }).click()
    await page.getByRole('link', { name: 'Reload' }).waitFor()
    await page.unroute(ERROR_PAGE)
    await page.goBack()
    await page.goto('/area')
    await untilAlive(page)
    await page.getByRole('button', { name: 'Throw' }).click()
    await page.getByRole('heading', { name: 'Failed on the client' }).waitFor()
  })
})

describe('a page whose list of files does not load', () => {
  browserTest('has its error page all the same, without the styles of that', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    await page.route(/\/segments-[^/]*\.json$/, (route) => route.abort())
    await page.goto('/area')
    await untilAlive(page)
    await page.getByRole('button', { name: 'Throw' }).click()
    await page.getByRole('heading', { name: 'Failed on the client' }).waitFor()
    await expect.poll(() => page.title()).toBe('Failed · Fallbacks')
    expect(await page.getByRole('link', { name: 'Home' }).count()).toBe(1)
  })
})

describe('a page whose router does not load', () => {
  browserTest('sends its forms as the browser does, with what was typed', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    await page.route(ROUTER, (route) => route.abort())
    const failed = page.waitForEvent('requestfailed', (request) => ROUTER.test(request.url()))
    await page.goto('/area')
    await failed
    await page.getByLabel('Text').fill('grain')
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Save' }).click()
    expect((await sent).isNavigationRequest()).toBe(true)
    await expect.poll(() => page.getByTestId('saved').textContent()).toBe('grain')
  })

  browserTest('keeps a form that is sent while it is still being asked for', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    await page.route(ROUTER, async (route) => {
      asked.resolve()
      await released.promise
      await route.abort()
    })
    await page.goto('/area')
    await asked.promise
    await page.getByLabel('Text').fill('grain')
    await page.getByRole('button', { name: 'Save' }).click()
    released.resolve()
    await page.getByRole('alert').getByRole('button', { name: 'Reload' }).waitFor()
    expect(await page.getByLabel('Text').inputValue()).toBe('grain')
    expect(await page.getByRole('heading', { name: 'Area' }).count()).toBe(1)
  })

  browserTest('has a last resort for what throws in it', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    await page.route(ROUTER, (route) => route.abort())
    await page.goto('/area')
    const failed = page.waitForEvent('requestfailed', (request) => ROUTER.test(request.url()))
    await failed
    await page.getByRole('button', { name: 'Throw' }).click()
    await page.getByRole('link', { name: 'Reload' }).waitFor()
    expect(await page.title()).toBe('Application error')
    expect(await focused(page)).toBe('Application error: a client-side exception has occurred')
    // Not at the very edge of the window, whatever stylesheets it has.
    expect((await page.locator('h1').boundingBox())?.x).toBeGreaterThan(20)
    await page.unroute(ROUTER)
    await page.getByRole('link', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Area' }).waitFor()
  })
})

describe('a page whose code does not load', () => {
  browserTest('asks for it once more', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    let asked = 0
    await page.route(AREA_PAGE, (route) => ((asked += 1) <= 2 ? route.abort() : route.continue()))
    await page.goto('/area')
    await untilAlive(page)
    await page.getByRole('button', { name: 'Throw' }).click()
    await page.getByRole('heading', { name: 'Failed on the client' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  browserTest('says so in a bar that loads the page again', async ({ open }) => {
    const page = await open({ allow: ALLOWED })
    await page.route(AREA_PAGE, (route) => route.abort())
    await page.goto('/area')
    const bar = page.getByRole('alert')
    await bar.waitFor()
    expect(await bar.textContent()).toContain('A part of this page did not load.')
    expect(await bar.evaluate((element) => element.getBoundingClientRect().bottom === innerHeight)).toBe(true)
    await page.unroute(AREA_PAGE)
    await bar.getByRole('button', { name: 'Reload' }).click()
    await untilAlive(page)
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
