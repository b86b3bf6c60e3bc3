import { isSameDocument, untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, hold, pathOf, recordDocuments } from '../support/router-page.ts'

const PICTURE_SCRIPT = /picture-page-[^/]*\.js$/
const ANY_STYLE = /\.css$/

describe('code or styles of a page that never come', () => {
  browserTest.for([
    { what: 'script', url: PICTURE_SCRIPT },
    { what: 'stylesheet', url: ANY_STYLE },
  ])('a $what: after 3.8 s, and not before, the browser loads one document', async ({ what, url }, { open }) => {
    const page = await open({ allow: [new RegExp(`^console\\.error: Failed to load ${what}: /_m/assets/`)] })
    await page.clock.install()
    await page.goto('/')
    await untilAlive(page)
    const held = await hold(page, url)
    const others: Promise<unknown>[] = []
    page.on('request', (request) => {
      if (request.resourceType() === 'script' && !url.test(request.url()))
        others.push(
          request
            .response()
            .then((response) => response?.finished())
            .catch(() => undefined), // asked for by the document that comes instead, and cut off by the end of the test
        )
    })
    const documents = recordDocuments(page)
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await clickLink(page, '/gallery/wheel')
    await held.asked
    // The page's clock jumps; what is not held must not be late only because this machine is busy.
    await Promise.all(others)
    await page.clock.runFor(3_799)
    await heading(page, 'Home')
    expect(documents).toEqual([])
    const asked = page.waitForRequest((request) => request.isNavigationRequest())
    await page.clock.runFor(1)
    await asked
    held.release()
    await heading(page, 'The wheel')
    expect(pathOf(page)).toBe('/gallery/wheel')
    expect(await isSameDocument(page)).toBe(false)
    const color = (): Promise<string> => page.locator('section').evaluate((section) => getComputedStyle(section).color)
    await expect.poll(color).toBe('rgb(1, 2, 3)')
    expect(documents).toEqual(['/gallery/wheel'])
  })

  browserTest('a script that comes in time is waited for', async ({ open }) => {
    const page = await open()
    await page.clock.install()
    await page.goto('/')
    await untilAlive(page)
    const held = await hold(page, PICTURE_SCRIPT)
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await clickLink(page, '/gallery/wheel')
    await held.asked
    await page.clock.runFor(3_700)
    held.release()
    await heading(page, 'The wheel')
    await page.clock.runFor(10_000)
    expect(await isSameDocument(page)).toBe(true)
  })
})
