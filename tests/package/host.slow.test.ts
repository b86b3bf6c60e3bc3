/** An application from the packed archive in an Express server with the middleware that most servers have. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { submitForm, untilAlive } from 'millrace/testing'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import { visitExample } from '../support/example-pages.ts'
import {
  makeOutsideFolder,
  packedArchive,
  type OutsideFolder,
  type OutsideServer,
} from '../support/installed-application.ts'

const FIXTURES = resolve(import.meta.dirname, '../fixtures')
const state = {
  folder: undefined as OutsideFolder | undefined,
  server: undefined as OutsideServer | undefined,
  browser: undefined as Browser | undefined,
}

beforeAll(async () => {
  const folder = await makeOutsideFolder()
  state.folder = folder
  const manifest = JSON.parse(await readFile(join(FIXTURES, 'host-stack/package.json'), 'utf8'))
  manifest.dependencies.millrace = `file:${await packedArchive(folder)}`
  await cp(join(FIXTURES, 'host-stack'), folder.path, { recursive: true })
  await cp(join(FIXTURES, 'shop-app'), join(folder.path, 'src/app'), { recursive: true })
  await writeFile(join(folder.path, 'package.json'), JSON.stringify(manifest))
  await writeFile(
    join(folder.path, 'millrace.config.ts'),
    `import { defineConfig } from 'millrace/build'\nexport default defineConfig({ basePath: '/shop' })\n`,
  )
  await done(folder, ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline'])
  await done(folder, ['millrace', 'build'], { PUBLIC_EDITION: 'bare' })
  state.server = await folder.serve(['node', 'host.js'])
  if (findChromium() !== undefined) state.browser = await launchChromium()
})

afterAll(async () => {
  await state.browser?.close()
  await state.server?.[Symbol.asyncDispose]()
  await state.folder?.[Symbol.asyncDispose]()
})

async function done(folder: OutsideFolder, command: readonly string[], env: Record<string, string> = {}) {
  const { code, out, errors } = await folder.run(command, { env })
  if (code !== 0) throw new Error(`${command.join(' ')} has failed.\n${out}${errors}`)
}

const origin = (): string => state.server?.origin ?? ''
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(origin() + path, { headers, redirect: 'manual' })

async function seen(): Promise<{ lines: string[]; hostErrors: string[] }> {
  return (await (await get('/seen')).json()) as { lines: string[]; hostErrors: string[] }
}

/** As a browser posts a form of a page without referrers. */
async function post(path: string, selector: string, fields: Record<string, string | File>, headers: object = {}) {
  const form = await submitForm(await (await get(path)).text(), selector, fields)
  return fetch(origin() + form.url, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...form.headers, Origin: 'null', 'Sec-Fetch-Site': 'same-origin', ...headers },
    body: form.body ?? null,
  })
}

describe('by HTTP', () => {
  test('a streamed page arrives piece by piece, compressed, with the session of the host', async () => {
    const answer = await get('/shop/stock?held', { 'Accept-Encoding': 'gzip' })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('set-cookie')).toMatch(/^connect\.sid=/)
    expect(answer.headers.get('cache-control')).toMatch(/^private/)
    expect(answer.headers.get('ratelimit-limit') ?? answer.headers.get('x-ratelimit-limit')).toBe('10000')
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (!text.includes('Counting') || text.includes('40 sacks')) continue
      await fetch(`${origin()}/release`, { method: 'POST' })
    }
    expect(text).toContain('40 sacks')
  })

  test('policies and referrers of helmet() fit the pages', async () => {
    const answer = await get('/shop')
    const nonce = /<script[^>]* nonce="([^"]+)"/.exec(await answer.text())?.[1] ?? ''
    expect(answer.headers.get('content-security-policy')).toContain(`;script-src 'self' 'nonce-${nonce}';`)
    expect(answer.headers.get('referrer-policy')).toBe('same-origin')
    expect(answer.headers.get('strict-transport-security')).toContain('includeSubDomains')
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    const again = await get('/shop', { 'If-None-Match': answer.headers.get('etag') ?? '', Cookie: cookie })
    expect([again.status, again.headers.get('content-security-policy')]).toEqual([304, null])
  })

  test('forms, uploads, JSON, redirects and refusals', async () => {
    const ordered = await post('/shop/order', '#order', { goods: 'flour' })
    expect([ordered.status, await ordered.text()]).toEqual([200, expect.stringContaining('ordered flour')])
    expect(ordered.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toContain('__Host-shop~basket')
    expect((await post('/shop/order', '#order', { goods: '' })).status).toBe(422)
    const left = await post('/shop/order', '#leave', {})
    expect([left.status, left.headers.get('location')]).toEqual([303, '/shop/goods/9'])
    expect((await post('/shop/order', '#order', { goods: 'a' }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    const weighed = await post('/shop/stock', '#weigh', { list: new File(['12345'], 'list.txt') })
    expect(await weighed.text()).toContain('5 bytes')
    const echoed = await fetch(`${origin()}/shop/echo`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{ "a": [1, null] }',
    })
    expect(await echoed.json()).toEqual({ body: '{"a":[1,null]}' })
  })

  test('a preflight is answered by cors(), and another method by its override', async () => {
    const preflight = await fetch(`${origin()}/shop/_m/data/order`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://other.test', 'Access-Control-Request-Method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    for (const [path, headers] of [
      ['/shop/echo?_method=PUT', {}],
      ['/shop/echo', { 'X-HTTP-Method-Override': 'PUT' }],
    ] as const) {
      const answer = await fetch(origin() + path, { method: 'POST', headers, body: 'a' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD, OPTIONS'])
    }
  })

  test('what the application refuses or fails at never reaches the error handler of the host', async () => {
    expect((await get('/shop/broken')).status).toBe(500)
    expect((await get('/shop/%zz')).status).toBe(400)
    expect((await get('/shop/nothing')).status).toBe(404)
    const { lines, hostErrors } = await seen()
    expect(hostErrors).toEqual([])
    expect(lines.find((line) => line.startsWith('GET /shop/broken'))).toMatch(/^GET \/shop\/broken 500 \d+$/)
    expect(lines.find((line) => line.startsWith('GET /shop/%zz'))).toMatch(/ 400 \d+$/)
    expect(lines.find((line) => line.startsWith('PUT /shop/echo?_method'))).toMatch(/ 405 \d+$/)
  })

  test('a file that multer has taken is refused by a line that names it', async () => {
    await using other = await state.folder?.serve(['node', 'host.js'], { env: { MULTER: '1' } })
    const at = other?.origin ?? ''
    const page = await (await fetch(`${at}/shop/stock`)).text()
    const form = await submitForm(page, '#weigh', { list: new File(['12345'], 'list.txt') })
    const answer = await fetch(at + form.url, { method: 'POST', headers: form.headers, body: form.body ?? null })
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.stringContaining('The middleware multerMiddleware'),
    ])
    const fields = await submitForm(await (await fetch(`${at}/shop/order`)).text(), '#order', { goods: 'oats' })
    const ordered = await fetch(at + fields.url, { method: 'POST', headers: fields.headers, body: fields.body ?? null })
    expect(await ordered.text()).toContain('ordered oats')
  })
})

describe.for([true, false])('in a browser, with scripts: %s', (javaScript) => {
  const visit = (path: string, look: (page: Page) => Promise<void>) =>
    state.browser === undefined
      ? Promise.resolve()
      : visitExample({ browser: state.browser, origin: origin(), path, javaScript }, look)

  test('a streamed page and its forms work, without a complaint', async () => {
    await visit('/shop/stock', async (page) => {
      await page.getByText('40 sacks').waitFor()
      if (javaScript) {
        await untilAlive(page)
        await page.getByRole('button', { name: 'Count' }).click()
        await expect.poll(() => page.getByTestId('counted').textContent()).toBe('3 goods')
      }
      await page
        .getByLabel('List')
        .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('12345') })
      await page.getByRole('button', { name: 'Weigh' }).click()
      await expect.poll(() => page.getByTestId('weighed').textContent()).toBe('5 bytes')
      await page.getByRole('link', { name: '/order', exact: true }).click()
      await page.getByLabel('Goods').fill('flour')
      await page.getByRole('button', { name: 'Order' }).click()
      await expect.poll(() => page.getByTestId('state').textContent()).toBe('ordered flour')
      await page.getByRole('button', { name: 'Leave' }).click()
      await page.getByRole('heading', { name: 'Goods 9' }).waitFor()
    })
  })

  test('a page that was signed in to by passport shows its user', async () => {
    await visit('/seen', async (page) => {
      await page.request.post('/sign-in')
      await page.goto('/shop')
      await page.getByTestId('visitor').getByText('Ada').waitFor()
      await page.getByRole('link', { name: '/goods/1', exact: true }).click()
      await page.getByRole('heading', { name: 'Goods 1' }).waitFor()
      expect(await page.getByTestId('visitor').textContent()).toBe('Ada')
    })
  })
})
