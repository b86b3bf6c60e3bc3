import { isSameDocument, untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { clickLink, heading, hold, pathOf } from '../support/router-page.ts'
import { routerTest as browserTest } from '../support/router-app.ts'

describe('coming back to a document', () => {
  browserTest('that the browser had in its cache: what is old is asked for again behind it', async ({ open }) => {
    const page = await open()
    await page.goto('/mills/1')
    await untilAlive(page)
    const before = await page.getByTestId('read-at').textContent()
    await page.goto('/editor')
    await page.goBack()
    await untilAlive(page)
    await expect.poll(() => page.getByTestId('read-at').textContent()).not.toBe(before)
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest(
    'that was kept as it was: a click that had been given up for another site leads nowhere',
    async ({ open }) => {
      const page = await open()
      await page.goto('/mills/1')
      await untilAlive(page)
      const data = await hold(page, /\/_m\/data\/mills\/2/)
      await clickLink(page, '/mills/2')
      await data.asked
      // What the page hears of when it is put aside; the browser of these tests keeps no pages.
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
      data.release()
      await expect.poll(() => page.getByTestId('events').textContent()).toContain('cancel push /mills/1 > /mills/2')
      expect(pathOf(page)).toBe('/mills/1')
      await clickLink(page, '/editor')
      await heading(page, 'Editor')
      expect(await isSameDocument(page)).toBe(true)
    },
  )

  browserTest('that was kept as it was: what it shows is asked for again behind it', async ({ open }) => {
    const page = await open()
    await page.goto('/mills/1')
    await untilAlive(page)
    const before = await page.getByTestId('read-at').textContent()
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await expect.poll(() => page.getByTestId('read-at').textContent()).not.toBe(before)
    expect(await isSameDocument(page)).toBe(true)
  })
})
