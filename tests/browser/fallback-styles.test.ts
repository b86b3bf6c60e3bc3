/** Fallbacks and traversals by computed styles; the same table runs in other engines (tests/engines/fallbacks). */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { AREA, HOME, JOURNEYS, readShown, SHEETS, WAYS, type Shown } from '../support/fallback-ways.ts'
import { fallbacksTest as browserTest } from '../support/router-app.ts'

/** What pages say of failures that they were made for. */
const ALLOWED = [
  /on purpose/,
  /failed to provide this value/,
  /status of (?:40[134]|500)/,
  /^uncaught: $/,
  /Minified React error #419|could not finish this Suspense boundary/,
]

async function expectShown(page: Page, { heading, title, applied }: Shown): Promise<void> {
  // Between two documents there is nothing to be read.
  const read = (): Promise<Shown | undefined> => page.evaluate(readShown, [...SHEETS]).catch(() => undefined)
  await expect.poll(read).toEqual({ heading, title, applied })
}

async function press(page: Page, name: string): Promise<void> {
  await page
    .locator('a,button')
    .filter({ hasText: new RegExp(`^${name}$`) })
    .first()
    .dispatchEvent('click')
}

/** The router knows which stylesheets are whose, and may switch them on and off. */
async function untilListed(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      history.state?.millrace !== undefined &&
      performance.getEntriesByType('resource').some(({ name }) => name.includes('/segments-')),
  )
}

describe('a fallback has its own styles and those of the layouts above it', () => {
  browserTest.for(WAYS)('$name', async ({ at, press: name, status = 200, ...shown }, { open }) => {
    const page = await open({ allow: ALLOWED })
    expect((await page.goto(at))?.status()).toBe(status)
    if (name !== undefined) {
      await untilAlive(page)
      await press(page, name)
    }
    await expectShown(page, shown)
    // Nothing that comes later takes them away.
    await untilListed(page)
    await expectShown(page, shown)
    // A way on.
    await expect.poll(() => page.getByRole('link', { name: 'Home', exact: true }).count()).toBe(1)
    if (name === undefined) return
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(shown.heading)
    await expect.poll(() => page.locator('#millrace-announcer').textContent()).toBe(shown.title)
  })
})

describe('without JavaScript a fallback has its styles, its title and a way on', () => {
  browserTest.for(WAYS.filter(({ status }) => status))('$name', async ({ at, status, ...shown }, { open }) => {
    const page = await open({ allow: ALLOWED, javaScript: false })
    expect((await page.goto(at))?.status()).toBe(status)
    await expectShown(page, shown)
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await expectShown(page, HOME)
  })
})

describe('styles are those of the page on screen after', () => {
  browserTest.for(JOURNEYS)('$name', async ({ at, steps }, { open }) => {
    const page = await open({ allow: ALLOWED })
    await page.goto(at)
    await untilListed(page)
    for (const [step, shown] of steps) {
      if ('press' in step) await press(page, step.press)
      else if ('goto' in step) await page.goto(step.goto)
      else if ('reload' in step) await page.reload()
      else await page.evaluate((by) => history.go(by), step.travel)
      await expectShown(page, shown)
      await page.waitForFunction(() => history.state?.millrace !== undefined)
      await expectShown(page, shown)
    }
  })
})

browserTest('a fallback is not shown before its styles apply', async ({ open }) => {
  const page = await open({ allow: ALLOWED })
  const held = Promise.withResolvers<void>()
  await page.route(/\.css$/, async (route) => {
    const text = await (await route.fetch()).text()
    if (text.includes('--not-found')) await held.promise
    await route.fulfill({ contentType: 'text/css', body: text })
  })
  await page.goto('/area')
  await untilAlive(page)
  await page.evaluate(() => {
    const seen: string[] = []
    Object.assign(window, { seen })
    const look = (): void => {
      if (document.querySelector('h1')?.textContent === 'Not found') {
        seen.push(getComputedStyle(document.documentElement).getPropertyValue('--not-found'))
      }
      requestAnimationFrame(look)
    }
    look()
  })
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await press(page, 'Refuse: notFound')
  await answered
  held.resolve()
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await expect.poll(() => page.evaluate(() => (window as unknown as { seen: string[] }).seen.length)).toBeGreaterThan(1)
  expect(await page.evaluate(() => new Set((window as unknown as { seen: string[] }).seen).size)).toBe(1)
})

describe('a stylesheet of the document that has failed', () => {
  const isPage = /page-[^/]*\.css$/

  browserTest.for(['404', 'abort'] as const)('by %s does not keep the next click back', async (how, { open }) => {
    const page = await open({ allow: [/ERR_FAILED|status of 404|Refused to apply style/] })
    const asked: string[] = []
    let failing = true
    await page.route(isPage, async (route) => {
      asked.push(route.request().url())
      if (!failing) return route.continue()
      if (how === 'abort') return route.abort()
      return route.fulfill({ status: 404, contentType: 'text/plain', headers: { 'X-Content-Type-Options': 'nosniff' } })
    })
    await page.goto('/area')
    await expect.poll(() => asked.length).toBe(2)
    await untilListed(page)
    failing = false
    await page.evaluate(() => Object.assign(window, { sameDocument: true }))
    await press(page, '/')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    const started = Date.now()
    await press(page, '/area')
    await expectShown(page, AREA)
    expect(Date.now() - started).toBeLessThan(3_000)
    expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true)
  })

  browserTest('is asked for once more, and applies to the page on screen', async ({ open }) => {
    const page = await open({ allow: [/ERR_FAILED/] })
    let times = 0
    await page.route(isPage, (route) => ((times += 1) === 1 ? route.abort() : route.continue()))
    await page.goto('/area')
    await expectShown(page, AREA)
    expect(times).toBe(2)
  })
})
