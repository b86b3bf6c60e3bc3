import { untilAlive } from 'millrace/testing'
import { expect } from 'vitest'
import { browserTest as testInBrowser } from '../support/browser.ts'
import { startDevProject } from '../support/dev-project.ts'

const OVERLAY = 'millrace-overlay dialog'
const EXPORT = 'export default'

/** Only the server itself fails: the table can be read. */
const FAULT = `if (process.argv[1]?.endsWith('start.js')) throw new Error('no <database> today')\n`

const browserTest = testInBrowser.extend('project', async ({}, { onCleanup }) => {
  const project = await startDevProject('build-dev')
  onCleanup(project.close)
  return project
})

browserTest(
  'a server that does not start leaves open pages as they are, and says in others what is wrong',
  async ({ project, open }) => {
    const page = await open({ allow: [/502/] })
    await page.goto(project.dev.url)
    await untilAlive(page)
    await page.evaluate(() => Object.assign(window, { isFormer: true }))
    await project.replace('app.ts', EXPORT, FAULT + EXPORT)
    await page.locator(OVERLAY).getByText('no <database> today').first().waitFor()
    expect(await page.getByRole('heading', { name: 'First version' }).count()).toBe(1)
    expect(await page.evaluate(() => 'isFormer' in window)).toBe(true)

    const other = await open({ allow: [/502/] })
    const answer = await other.goto(project.dev.url)
    expect(answer?.status()).toBe(502)
    expect(await other.locator('body > pre').innerText()).toContain('no <database> today')

    await project.replace('app.ts', FAULT, '')
    await other.getByRole('heading', { name: 'First version' }).waitFor()
    await page.waitForFunction(() => !('isFormer' in window))
    await page.getByRole('heading', { name: 'First version' }).waitFor()
    await page.close() // before its server is gone
    await other.close()
  },
)
