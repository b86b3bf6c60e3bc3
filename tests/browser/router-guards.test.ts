import { isSameDocument, untilAlive } from 'millrace/testing'
import { expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, pathOf, recordData } from '../support/router-page.ts'

browserTest('a click to a page without a loader asks its guard, each time', async ({ open }) => {
  const page = await open()
  await page.goto('/')
  await untilAlive(page)
  await clickLink(page, '/vault/wheel')
  await heading(page, 'Mill 1')
  expect(pathOf(page)).toBe('/mills/1')

  await page.context().addCookies([{ name: 'key', value: '1', url: new URL('/', page.url()).href }])
  await clickLink(page, '/vault/wheel')
  await heading(page, 'The wheel of the vault')

  await page.context().clearCookies()
  const asked = recordData(page)
  await page.getByRole('main').getByRole('link', { name: '/vault/sail' }).click()
  await expect.poll(() => pathOf(page)).toBe('/mills/1')
  expect(asked[0]).toBe('/vault/sail')
  expect(await isSameDocument(page)).toBe(true)
})
