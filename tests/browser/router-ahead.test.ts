import { untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { recordData } from '../support/router-page.ts'

/** What the browser says of its connection. */
function claimConnection(connection: Readonly<Record<string, unknown>>): void {
  Object.defineProperty(navigator, 'connection', { value: connection })
}

describe('fetching ahead', () => {
  browserTest('takes links in view and in the page where nobody has to save', async ({ open }) => {
    const page = await open()
    const asked = recordData(page)
    await page.goto('/ahead')
    await expect.poll(() => asked.toSorted()).toEqual(['/mills/31 ahead', '/mills/32 ahead'])
  })

  browserTest.for([
    ['Save-Data', { saveData: true, effectiveType: '4g' }],
    ['a 2G connection', { saveData: false, effectiveType: '2g' }],
    ['a slow 2G connection', { saveData: false, effectiveType: 'slow-2g' }],
  ] as const)('with %s takes only what a visitor points at', async ([, connection], { open }) => {
    const page = await open()
    await page.addInitScript(claimConnection, connection)
    await page.clock.install()
    const asked = recordData(page)
    await page.goto('/ahead')
    await untilAlive(page)
    await page.clock.runFor(10_000)
    await page.getByRole('link', { name: 'Pointed at' }).hover()
    await page.clock.runFor(100)
    await expect.poll(() => asked).toEqual(['/mills/33 ahead'])
  })
})
