import { startBuild, untilAlive } from 'millrace/testing'
import { expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { heading, clickLink } from '../support/router-page.ts'
import { makeTempDir } from '../support/temp-dir.ts'

browserTest('one build serves two environments, each hydrated with its own values', async ({ open }) => {
  await using folder = await makeTempDir('env')
  const out = await buildFixture('export-app', folder)
  for (const name of ['Mills <b>&amp;', 'Stones']) {
    await using server = await startBuild(out, { environment: { SHOP_NAME: name } })
    const page = await open({ context: { baseURL: await server.origin() } })
    await page.goto('/mills/1')
    await untilAlive(page)
    expect(await page.getByTestId('shop').textContent()).toBe(name)
    await clickLink(page, 'Two')
    await heading(page, 'Mill 2')
    expect(await page.getByTestId('shop').textContent()).toBe(name)
    expect(await page.content()).not.toContain('key-of-the-server')
  }
})
