import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'

const dataDir = await mkdtemp(join(tmpdir(), 'app-test-'))
const server = spawn(process.execPath, ['dist/server/main.js'], {
  env: { ...process.env, NODE_ENV: 'production', PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const origin = await listening()

after(async () => {
  server.kill('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})

async function listening(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /http:\/\/localhost:(\d+)/.exec(line)?.[0]
    if (url !== undefined) return url
  }
  throw new Error('The server ended before it was listening.')
}

test('a page shows what its loader gives', async () => {
  const response = await fetch(`${origin}/mills/1`)
  assert.equal(response.status, 200)
  assert.match(await response.text(), /<h1>Upper mill<\/h1>/)
})

test('an unknown page and an unknown mill are 404', async () => {
  for (const path of ['/no-such-page', '/mills/99']) {
    const response = await fetch(origin + path)
    assert.equal(response.status, 404)
    assert.match(await response.text(), /<h1>Not found<\/h1>/)
  }
})

test('the form works without JavaScript', async () => {
  const page = await (await fetch(`${origin}/guestbook`)).text()
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const body = new URLSearchParams([
    ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
    ['name', 'Ada'],
  ])
  const answer = await fetch(new URL(action, `${origin}/guestbook`), {
    method: 'POST',
    body,
    headers: { Origin: origin },
  })
  assert.match(await answer.text(), /<li>Ada<\/li>/)
})

const browser = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  chromium.executablePath(),
].find((path) => path !== undefined && path !== '' && existsSync(path))
const skip = browser === undefined && 'no Chromium was found; get one by: npx playwright-core install chromium'

test('links and the form work in a browser', { skip }, async () => {
  const chrome = await chromium.launch({ executablePath: browser ?? '', args: ['--no-sandbox'] })
  try {
    const page = await chrome.newPage({ baseURL: origin })
    await page.goto('/')
    await page.getByRole('link', { name: 'Guestbook' }).click()
    await page.getByLabel('Your name').fill('Grace')
    await page.getByRole('button', { name: 'Sign' }).click()
    await page.getByText('Thank you, Grace.').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Grace' }).waitFor()
  } finally {
    await chrome.close()
  }
})
