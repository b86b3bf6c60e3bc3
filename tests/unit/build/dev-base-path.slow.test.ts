import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startDevServer, type DevServer } from '../../../scripts/dev/dev-server.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { openDevPage } from './dev-page.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PROJECT = resolve(import.meta.dirname, '../../..')

let temp: TempDir
let dev: DevServer

beforeAll(async () => {
  temp = await makeTempDir('dev-base')
  dev = await startDevServer({
    root: PROJECT,
    app: join(PROJECT, 'tests/fixtures/shop-app'),
    out: join(PROJECT, `node_modules/.cache/millrace-dev-base-${process.pid}`),
    basePath: '/shop',
    port: 0,
    env: { ...process.env, PUBLIC_EDITION: 'bare', DATA_DIR: temp.path },
    session: 'one',
    print: () => undefined,
  })
})

afterAll(async () => {
  await dev.close()
  await temp.remove()
})

test('a page below the base path names nothing outside of it, and all that it names is there', async () => {
  expect(new URL(dev.url).pathname).toBe('/shop')
  const page = await fetch(`${dev.url}/goods/1`)
  expect(page.status).toBe(200)
  const text = await page.text()
  expect(text).toContain('<p data-testid="path">/goods/1</p>')
  const urls = [...text.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, url = '']) => url)
  const files = urls.filter((url) => url.includes('/_m/'))
  expect(files.length).toBeGreaterThan(3)
  expect(files.filter((url) => !url.startsWith('/shop/_m/assets/'))).toEqual([])
  for (const url of files) expect([url, (await fetch(new URL(url, dev.url))).status]).toEqual([url, 200])
})

test('modules import each other, packages and assets below the base path', async () => {
  const module = await (await fetch(`${dev.url}/_m/assets/tests/fixtures/shop-app/home-page.tsx`)).text()
  const imports = [...module.matchAll(/from "(\/[^"]+)"/g)].map(([, url = '']) => url)
  expect(imports.length).toBeGreaterThan(0)
  expect(imports.filter((url) => !url.startsWith('/shop/_m/assets/'))).toEqual([])
  for (const url of imports) expect([url, (await fetch(new URL(url, dev.url))).status]).toEqual([url, 200])
  const style = await (await fetch(`${dev.url}/_m/assets/styles/tests/fixtures/shop-app/shop.css`)).text()
  expect(style).toMatch(/url\("?\/shop\/_m\/assets\/stripes-/)
})

test('pages are told of saves below the base path', async () => {
  await using page = await openDevPage(dev)
  expect(page.hello).toMatchObject({ session: 'one' })
  const client = /"(\/shop\/_m\/assets\/vendor\/millrace-dev-client[^"]*)"/.exec(await (await fetch(dev.url)).text())
  const script = await (await fetch(new URL(client?.[1] ?? '', dev.url))).text()
  expect(script).toContain('"/shop"')
})

test.for(['/', '/goods/1', '/_m/dev', '/_m/assets/dev-entry.js', '/shopping'])('%s is 404', async (path) => {
  const answer = await fetch(new URL(path, dev.url))
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('begin with /shop')])
})
