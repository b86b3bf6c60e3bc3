import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, test } from 'node:test'
import { createTestApp, keepFailedPages, renderRoute, startBuild, untilAlive } from 'millrace/testing'
import { chromium } from 'playwright-core'
import application from '../src/app/app.ts'

const app = createTestApp(application)
after(() => app.stop())

test('a page shows what its loader gives', async () => {
  const page = await app.visitor().get('/mills/1')
  assert.equal(page.status, 200)
  assert.equal(page.text('h1'), 'Upper mill')
})

test('an unknown page and an unknown mill are 404', async () => {
  for (const path of ['/no-such-page', '/mills/99']) {
    const page = await app.visitor().get(path)
    assert.equal(page.status, 404)
    assert.equal(page.text('h1'), 'Not found')
  }
})

test('the form works without JavaScript', async () => {
  const page = await app.visitor().get('/guestbook')
  const signed = await page.submit('form', { name: 'Ada' })
  assert.equal(signed.text('li'), 'Ada')
})

test('a page has the title of its data', async () => {
  const data = { mill: { id: '7', name: 'Old mill', wheels: 1 }, others: [] }
  const page = await renderRoute('/mills/[id]', { app: application, params: { id: '7' }, data })
  assert.match(page.text('title') ?? '', /Old mill/)
})

const browser = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  chromium.executablePath(),
].find((path) => path !== undefined && path !== '' && existsSync(path))
const skip = browser === undefined && 'no Chromium was found; get one by: npx playwright-core install chromium'

test('links and the form work in a browser, on the built application', { skip }, async (t) => {
  await using server = await startBuild(new URL('../dist/', import.meta.url))
  const chrome = await chromium.launch({ executablePath: browser ?? '', args: ['--no-sandbox'] })
  try {
    const page = await chrome.newPage({ baseURL: await server.origin() })
    await keepFailedPages(page, t.name, async () => {
      await page.goto('/')
      await untilAlive(page)
      await page.getByRole('link', { name: 'Guestbook' }).click()
      await page.getByLabel('Your name').fill('Grace')
      await page.getByRole('button', { name: 'Sign' }).click()
      await page.getByText('Thank you, Grace.').waitFor()
      await page.getByRole('listitem').filter({ hasText: 'Grace' }).waitFor()
    })
  } finally {
    await chrome.close()
  }
})
