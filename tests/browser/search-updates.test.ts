/** Changes of search params that follow each other faster than pages, or come after their page has gone. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, hold, pathOf, recordData } from '../support/router-page.ts'

const DATA = /_m\/data\/tally/
const ROUTER = /_m\/assets\/start-router-.*\.js/

async function openTally(open: OpenPage, path = '/tally'): Promise<Page> {
  const page = await open()
  await page.goto(path)
  await untilAlive(page)
  await page.waitForFunction(() => history.state?.millrace !== undefined)
  return page
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()

/** Waits until the page shows these params and the address bar has them. */
async function shows(page: Page, params: object, path: string): Promise<void> {
  await page.getByTestId('shown').getByText(JSON.stringify(params), { exact: true }).waitFor()
  await expect.poll(() => pathOf(page)).toBe(path)
}

/** Runs in the page. */
declare const window: {
  late(): void
  setSearch(next: object, options?: object): void
  setSearchOfLayout(next: (former: object) => object): void
  setTally(next: object): void
}

describe('changes of search params', () => {
  browserTest('add up within one event', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'a and b')
    await shows(page, { n: 10, a: '1', b: '2' }, '/tally?n=10&a=1&b=2')
    await page.goBack()
    await shows(page, { n: 10 }, '/tally')
  })

  browserTest('add up over quick clicks, before the first of them has loaded', async ({ open }) => {
    const page = await openTally(open)
    const held = await hold(page, DATA)
    for (let click = 0; click < 3; click += 1) await press(page, 'n + 1')
    held.release()
    await shows(page, { n: 13 }, '/tally?n=13')
  })

  browserTest('add up where a param has another type in the page than in the URL', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'two tags')
    await shows(page, { n: 10, tags: ['x', 'y'] }, '/tally?n=10&tags=x.y')
  })

  browserTest('know the defaults of the schema when a param is dropped before', async ({ open }) => {
    const page = await openTally(open, '/tally?n=3&a=1')
    await press(page, 'nothing, then n + 1')
    await shows(page, { n: 11 }, '/tally?n=11')
  })

  browserTest('that replace all params make void what waits since before them', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'n + 1, then nothing')
    await shows(page, { n: 10, b: '3' }, '/tally?b=3')
  })

  browserTest('begin where a link or a form of the page is leading', async ({ open }) => {
    const page = await openTally(open)
    const held = await hold(page, DATA)
    await clickLink(page, 'To five')
    await press(page, 'n + 1')
    held.release()
    await shows(page, { n: 6 }, '/tally?n=6')
    await press(page, 'Seven')
    await press(page, 'n + 1')
    await shows(page, { n: 8 }, '/tally?n=8')
  })

  browserTest('to what is there, or on its way, ask for nothing and leave the history alone', async ({ open }) => {
    const page = await openTally(open, '/tally?n=4')
    const asked = recordData(page)
    const entries = await page.evaluate(() => history.length)
    await page.evaluate(() => window.setSearch({ n: 4 }))
    const held = await hold(page, DATA)
    await clickLink(page, 'To five')
    await page.evaluate(() => window.setSearch((now: object) => ({ ...now, n: 5 })))
    held.release()
    await shows(page, { n: 5 }, '/tally?n=5')
    await press(page, 'n + 1')
    await shows(page, { n: 6 }, '/tally?n=6')
    expect(asked).toEqual([expect.stringContaining('/tally?n=5'), expect.stringContaining('/tally?n=6')])
    expect(await page.evaluate(() => history.length)).toBe(entries + 2)
  })

  browserTest('begin where the visitor is going back', async ({ open }) => {
    const page = await openTally(open, '/tally?n=1')
    await press(page, 'n + 1')
    await shows(page, { n: 2 }, '/tally?n=2')
    await page.evaluate(() => {
      history.back()
      return new Promise((resolve) => addEventListener('popstate', resolve, { once: true }))
    })
    await press(page, 'n + 1')
    await shows(page, { n: 2 }, '/tally?n=2')
  })

  browserTest('make one entry of the history until it is shown, even if the last one replaces', async ({ open }) => {
    const page = await openTally(open)
    const entries = await page.evaluate(() => history.length)
    const held = await hold(page, DATA)
    await press(page, 'n + 1')
    await press(page, 'n + 1 in place')
    held.release()
    await shows(page, { n: 12 }, '/tally?n=12')
    expect(await page.evaluate(() => history.length)).toBe(entries + 1)
    await press(page, 'n + 1 in place')
    await shows(page, { n: 13 }, '/tally?n=13')
    expect(await page.evaluate(() => history.length)).toBe(entries + 1)
  })

  browserTest('add up before the router has loaded', async ({ open }) => {
    const page = await open()
    const held = await hold(page, ROUTER)
    await page.goto('/tally', { waitUntil: 'commit' })
    await page.waitForFunction(() => 'setSearch' in window)
    await press(page, 'n + 1')
    await press(page, 'a and b')
    held.release()
    await shows(page, { n: 11, a: '1', b: '2' }, '/tally?n=11&a=1&b=2')
  })

  browserTest('are asked about as one', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'hold')
    await shows(page, { n: 10, b: 'held' }, '/tally?n=10&b=held')
    await press(page, 'n + 1')
    await page.evaluate(() => window.setSearch((now: object) => ({ ...now, a: 'more' })))
    await page.getByRole('button', { name: 'Leave for' }).click()
    await shows(page, { n: 11, a: 'more', b: 'held' }, '/tally?n=11&b=held&a=more')
  })

  browserTest('and a fragment both count', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'a, then #foot')
    await shows(page, { n: 10, a: '1' }, '/tally?n=10&a=1')
    expect(new URL(page.url()).hash).toBe('#foot')
  })

  browserTest('are not lost by a reload of the data', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'a, then refresh')
    await shows(page, { n: 10, a: '1' }, '/tally?n=10&a=1')
  })
})

describe('a late change of search params', () => {
  browserTest('keeps what was set meanwhile', async ({ open }) => {
    const page = await openTally(open)
    await press(page, 'n + 1')
    await shows(page, { n: 11 }, '/tally?n=11')
    await page.evaluate(() => window.late())
    await shows(page, { n: 11, a: 'late', tags: ['late'] }, '/tally?n=11&tags=late&a=late')
  })

  browserTest('does nothing to another page', async ({ open }) => {
    const page = await openTally(open)
    await clickLink(page, 'Away')
    await heading(page, 'Mill 1')
    await page.evaluate(() => window.late())
    await clickLink(page, '/mills/2')
    await heading(page, 'Mill 2')
    expect(pathOf(page)).toBe('/mills/2')
    expect(await page.getByTestId('events').textContent()).not.toContain('late')
  })

  browserTest('does nothing to its own page after the visitor has left it and come back', async ({ open }) => {
    const page = await openTally(open)
    const late = await page.evaluateHandle(() => window.late)
    await clickLink(page, 'Away')
    await heading(page, 'Mill 1')
    await page.goBack()
    await heading(page, 'Tally')
    await late.evaluate((call) => call())
    await press(page, 'n + 1')
    await shows(page, { n: 11 }, '/tally?n=11')
    expect(await page.getByTestId('events').textContent()).not.toContain('late')
  })

  browserTest('does not cancel the visitor’s click on a link', async ({ open }) => {
    const page = await openTally(open)
    const held = await hold(page, /_m\/data\/mills/)
    await clickLink(page, 'Away')
    await held.asked
    await page.evaluate(() => window.late())
    held.release()
    await heading(page, 'Mill 1')
    expect(pathOf(page)).toBe('/mills/1')
    expect(await page.getByTestId('events').textContent()).not.toMatch(/late|cancel/)
  })

  browserTest('waits while the visitor is asked whether to leave', async ({ open }) => {
    const page = await openTally(open, '/tally?b=held')
    await clickLink(page, 'Away')
    await page.getByRole('button', { name: 'Leave for /mills/1' }).waitFor()
    await page.evaluate(() => window.late())
    await page.getByRole('button', { name: 'Leave for /mills/1' }).click()
    await heading(page, 'Mill 1')
    expect(pathOf(page)).toBe('/mills/1')
  })

  browserTest('of a layout concerns the page that is shown then, and a pattern only its own page', async ({ open }) => {
    const page = await openTally(open)
    await page.evaluate(() => window.setTally({ n: 4 }))
    await shows(page, { n: 4 }, '/tally?n=4')
    await clickLink(page, 'Away')
    await heading(page, 'Mill 1')
    await page.evaluate(() => window.setTally({ n: 5 }))
    await page.evaluate(() => {
      window.setSearchOfLayout((now) => ({ ...now, a: '1' }))
      window.setSearchOfLayout((now) => ({ ...now, b: '2' }))
    })
    await expect.poll(() => pathOf(page)).toBe('/mills/1?a=1&b=2')
  })
})
