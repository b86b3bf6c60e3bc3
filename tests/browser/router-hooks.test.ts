import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, hold, pathOf, recordData } from '../support/router-page.ts'

async function openAlive(open: OpenPage, path: string, allow: readonly RegExp[] = []): Promise<Page> {
  const page = await open({ allow })
  await page.goto(path)
  await untilAlive(page)
  return page
}

const text = (page: Page, id: string): Promise<string | null> => page.getByTestId(id).textContent()

describe('useSearch', () => {
  browserTest('pushes: each change is a step back, and the scroll stays where it is', async ({ open }) => {
    const page = await openAlive(open, '/search?page=3')
    const next = page.getByRole('button', { name: 'Next' })
    await next.scrollIntoViewIfNeeded() // as a click does
    const scrolled = await page.evaluate(() => scrollY)
    expect(scrolled).toBeGreaterThan(0)
    await next.click()
    await page.getByText('page 4 of everything').waitFor()
    expect(pathOf(page)).toBe('/search?page=4')
    expect(await page.evaluate(() => scrollY)).toBe(scrolled)
    await page.goBack()
    await page.getByText('page 3 of everything').waitFor()
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest('replaces: what is typed keeps the focus and makes no entry of the history', async ({ open }) => {
    const page = await openAlive(open, '/')
    await clickLink(page, '/search')
    await heading(page, 'Search')
    const entries = await page.evaluate(() => history.length)
    const word = page.getByLabel('Word')
    await word.focus()
    for (const [key, typed] of [
      ['m', 'm'],
      ['i', 'mi'],
      ['l', 'mil'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByText(`page 1 of ${typed}`, { exact: true }).waitFor()
    }
    expect(pathOf(page)).toBe('/search?page=1&word=mil')
    expect(await page.evaluate(() => history.length)).toBe(entries)
    expect(await word.evaluate((input) => input === document.activeElement)).toBe(true)
    await page.goBack()
    await heading(page, 'Home')
  })
})

describe('useFetcher', () => {
  browserTest('reads another page’s data and stays where it is', async ({ open }) => {
    const page = await openAlive(open, '/preview')
    const asked = recordData(page)
    const held = await hold(page, /_m\/data\/mills\/1/)
    await page.getByRole('button', { name: 'Read /mills/1' }).click()
    await page.getByTestId('state').getByText('loading').waitFor()
    held.release()
    await page.getByTestId('mill').getByText('Mill 1').waitFor()
    expect(await text(page, 'state')).toBe('idle')
    expect(pathOf(page)).toBe('/preview')
    expect(asked).toEqual(['/mills/1'])
    expect(await text(page, 'events')).toBe('')
    // The route cache has it now.
    await clickLink(page, '/mills/1')
    await heading(page, 'Mill 1')
    expect(asked).toEqual(['/mills/1'])
  })

  browserTest('gives up a reading when another one begins', async ({ open }) => {
    const page = await openAlive(open, '/preview')
    const held = await hold(page, /_m\/data\/mills\/1/)
    await page.getByRole('button', { name: 'Read /mills/1' }).click()
    await held.asked
    const given = page.waitForEvent('requestfailed', (request) => request.url().includes('/_m/data/mills/1'))
    await page.getByRole('button', { name: 'Read /mills/2' }).click()
    await page.getByTestId('mill').getByText('Mill 2').waitFor()
    expect((await given).failure()?.errorText).toBe('net::ERR_ABORTED')
    held.release()
    expect(await text(page, 'mill')).toBe('Mill 2')
  })

  browserTest('says that there is nothing to read', async ({ open }) => {
    const page = await openAlive(open, '/preview', [/responded with a status of 404 /])
    await page.getByRole('button', { name: 'Read /mills/none' }).click()
    await page.getByTestId('failed').getByText('yes').waitFor()
    expect(await text(page, 'mill')).toBe('nothing')
    await heading(page, 'Preview')
    await page.getByRole('button', { name: 'Read /mills/2' }).click()
    await page.getByTestId('mill').getByText('Mill 2').waitFor()
    expect(await text(page, 'failed')).toBe('no')
  })
})

describe('a navigation that takes its time', () => {
  browserTest(
    'is pending for links that are relative, and written in other letters than their URL',
    async ({ open }) => {
      const page = await openAlive(open, '/')
      const held = await hold(page, /_m\/data\/search/)
      await clickLink(page, '/search?word=mühle')
      await held.asked
      const busy = page.locator('nav a[aria-busy=true]')
      await expect.poll(() => busy.allTextContents()).toEqual(['/search?word=mühle', 'search?word=mühle'])
      held.release()
      await page.getByText('page 1 of mühle', { exact: true }).waitFor()
      expect(await busy.count()).toBe(0)
    },
  )

  browserTest('is pending after 100 ms and not before, for its link alone', async ({ open }) => {
    const page = await open()
    await page.clock.install()
    await page.goto('/')
    await untilAlive(page)
    const held = await hold(page, /_m\/data\/mills\/2/)
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await clickLink(page, '/mills/2')
    await held.asked
    await page.clock.runFor(99)
    expect(await text(page, 'pending')).toBe('none')
    const busy = page.locator('nav a[aria-busy=true]')
    expect(await busy.count()).toBe(0)
    await page.clock.runFor(1)
    await page.getByTestId('pending').getByText('push /mills/2').waitFor()
    expect(await busy.allTextContents()).toEqual(['/mills/2'])
    expect(await page.locator('a[data-pending]').allTextContents()).toEqual(['/mills/2'])
    // The page on the screen stays alive meanwhile.
    await heading(page, 'Home')
    held.release()
    await heading(page, 'Mill 2')
    expect(await text(page, 'pending')).toBe('none')
    expect(await page.locator('a[data-pending], nav a[aria-busy=true]').count()).toBe(0)
  })
})

describe('useNavigateEvents', () => {
  browserTest('hears start and commit, and which navigation was given up', async ({ open }) => {
    const page = await openAlive(open, '/')
    const held = await hold(page, /_m\/data\/mills\/1/)
    await clickLink(page, '/mills/1')
    await held.asked
    await clickLink(page, '/mills/2')
    await heading(page, 'Mill 2')
    await page.goBack()
    await heading(page, 'Home')
    expect((await text(page, 'events'))?.split('\n')).toEqual([
      'start push / > /mills/1',
      'cancel push / > /mills/1',
      'start push / > /mills/2',
      'commit push / > /mills/2',
      'start traverse /mills/2 > /',
      'commit traverse /mills/2 > /',
    ])
    held.release()
  })

  browserTest('hears of a failure when the error page has come, and of the retry', async ({ open }) => {
    const page = await openAlive(open, '/', [/ERR_FAILED/, /Failed to fetch/, /Failed to load route data/])
    const data = /_m\/data\/mills\/1/
    await page.route(data, (route) => route.abort())
    await clickLink(page, '/mills/1')
    await heading(page, 'Failed on the client')
    await page.unroute(data)
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, 'Mill 1')
    expect((await text(page, 'events'))?.split('\n')).toEqual([
      'start push / > /mills/1',
      'fail push / > /mills/1',
      'start refresh /mills/1 > /mills/1',
      'commit refresh /mills/1 > /mills/1',
    ])
  })
})

describe('useOnline', () => {
  browserTest('says when the network goes and when it comes back', async ({ open }) => {
    const page = await openAlive(open, '/')
    expect(await text(page, 'online')).toBe('online')
    await page.context().setOffline(true)
    await page.getByTestId('online').getByText('offline').waitFor()
    await page.context().setOffline(false)
    await page.getByTestId('online').getByText('online').waitFor()
  })
})

describe('a page whose data JSON cannot say', () => {
  browserTest('has a router like any other: its links need no document', async ({ open }) => {
    const page = await openAlive(open, '/ledger')
    await heading(page, 'Ledger 9007199254740993')
    await clickLink(page, '/mills/1')
    await heading(page, 'Mill 1')
    expect(await isSameDocument(page)).toBe(true)
    await page.goBack()
    await heading(page, 'Ledger 9007199254740993')
    expect(await isSameDocument(page)).toBe(true)
  })
})
