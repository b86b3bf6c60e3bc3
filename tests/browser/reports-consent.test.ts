import { untilAlive } from 'millrace/testing'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { startBuiltServer } from '../support/built-server.ts'
import { reportingTestOf, untilReporting } from '../support/reporting-pages.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const ON_PURPOSE = [/on purpose/]

const browserTest = reportingTestOf(async (env, onCleanup) => {
  const temp = await makeTempDir('consent')
  onCleanup(() => temp.remove())
  const out = await buildFixture('consent-app', temp)
  return startBuiltServer({ entry: join(out, 'server/main.js'), env: { ...env, REPORT_TUNNEL_PATH: '/tunnel' } })
})

describe('where the visitor is asked', () => {
  browserTest('nothing is loaded or sent before an answer, not even when the page is left', async ({ visit }) => {
    const { page, reports } = await visit({ allow: ON_PURPOSE })
    const asked: string[] = []
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname))
    await page.goto('/')
    await untilAlive(page)
    await page.getByRole('button', { name: 'Fail' }).click()
    await page.getByRole('link', { name: 'Other' }).click()
    await page.getByRole('heading', { name: 'Other' }).waitFor()
    await page.goto('/other')
    await untilAlive(page)
    await page.reload()
    await untilAlive(page)
    expect(asked.filter((path) => path === '/tunnel' || path.includes('/reports-'))).toEqual([])
    expect(await page.evaluate(() => '__SENTRY__' in window)).toBe(false)
    expect([...reports('event'), ...reports('transaction')]).toEqual([])
  })

  browserTest('what has failed until the answer is sent with it, once', async ({ visit }) => {
    const { page, until, settle, reports } = await visit({ allow: ON_PURPOSE })
    await page.goto('/')
    await untilAlive(page)
    await page.getByRole('button', { name: 'Fail' }).click()
    await page.getByRole('button', { name: 'Agree' }).click()
    await untilReporting(page)
    await page.getByRole('button', { name: 'Agree' }).click()
    expect(await until('event', 1)).toMatchObject([
      { tags: { route: '/' }, exception: { values: [{ value: 'The mill has stopped on purpose' }] } },
    ])
    await settle()
    expect(reports('event')).toHaveLength(1)
    await page.goto('/other')
    await untilAlive(page)
    expect(await page.evaluate(() => '__SENTRY__' in window)).toBe(false)
  })
})
