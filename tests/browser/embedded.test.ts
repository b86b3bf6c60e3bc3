import { isSameDocument, untilAlive } from 'millrace/testing'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { millrace } from '../../src/server/api/millrace.ts'
import { browserTest, JAVASCRIPT } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { clickLink, heading, pathOf } from '../support/router-page.ts'
import { buildShop, endOfHost, hostApp, type ShopBuild } from '../support/shop-host.ts'

const running: { origin: string; end?: () => Promise<void> } = { origin: '' }

beforeAll(async () => {
  const build: ShopBuild = await buildShop('/shop')
  const host = hostApp()
  const server = createServer(host)
  const env = { LOG_LEVEL: 'silent', DATA_DIR: build.dataDir }
  const shop = await millrace({ dist: build.dist, server, env })
  host.use('/shop', shop)
  endOfHost(host)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  running.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  running.end = async () => {
    await shop.stop()
    await build[Symbol.asyncDispose]()
  }
})
afterAll(() => running.end?.())

/** Paths that are asked for from now on, without those of files. */
function recordPaths(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.includes('/_m/assets/') && !pathname.includes('/_m/reports/')) asked.push(pathname)
  })
  return asked
}

const onHost = () => ({ context: { baseURL: running.origin } })

browserTest('links, script and the history stay below the base path, in one document', async ({ open }) => {
  const page = await open(onHost())
  await page.goto('/shop')
  await untilAlive(page)
  const asked = recordPaths(page)
  await clickLink(page, '/goods/1')
  await heading(page, 'Goods 1')
  expect(pathOf(page)).toBe('/shop/goods/1')
  await page.getByRole('button', { name: 'Next' }).click()
  await heading(page, 'Goods 5')
  expect(pathOf(page)).toBe('/shop/goods/5?from=button')
  await clickLink(page, '/moved/3')
  await heading(page, 'Goods 3')
  expect(pathOf(page)).toBe('/shop/goods/3')
  await clickLink(page, '/alias/4')
  await heading(page, 'Goods 4')
  expect(pathOf(page)).toBe('/shop/alias/4')
  await clickLink(page, '/')
  await heading(page, 'Home')
  expect(pathOf(page)).toBe('/shop')
  await page.goBack()
  await heading(page, 'Goods 4')
  await page.goBack()
  await heading(page, 'Goods 3')
  expect(pathOf(page)).toBe('/shop/goods/3')
  await page.goForward()
  await heading(page, 'Goods 4')
  expect(await isSameDocument(page)).toBe(true)
  expect(asked.filter((path) => !path.startsWith('/shop/_m/data/'))).toEqual([])
  const events = (await page.getByTestId('events').textContent())?.split('\n') ?? []
  expect(events[0]).toBe('start / > /goods/1')
  expect(events.join('\n')).not.toContain('/shop')
})

browserTest('a link is fetched ahead, and then shown without a request', async ({ open }) => {
  const page = await open(onHost())
  await page.goto('/shop')
  await untilAlive(page)
  const ahead = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/shop/_m/data/goods/2')
  await page.getByRole('link', { name: '/goods/2', exact: true }).hover()
  await (await ahead).finished()
  const asked = recordPaths(page)
  await clickLink(page, '/goods/2')
  await heading(page, 'Goods 2')
  expect(asked).toEqual([])
})

browserTest('a redirect after the shell is followed by the router and by the document', async ({ open }) => {
  const page = await open(onHost())
  await page.goto('/shop')
  await untilAlive(page)
  await clickLink(page, '/late')
  await heading(page, 'Goods 7')
  expect(pathOf(page)).toBe('/shop/goods/7')
  expect(await isSameDocument(page)).toBe(true)
  await page.goto('/shop/late')
  await heading(page, 'Goods 7')
  expect(pathOf(page)).toBe('/shop/goods/7')
})

browserTest('what is outside of the base path, or unknown, is the host\u2019s document', async ({ open }) => {
  const page = await open({ ...onHost(), allow: [statusComplaint(404)] })
  await page.goto('/shop/goods/1')
  await untilAlive(page)
  await clickLink(page, 'host')
  await heading(page, 'Host')
  expect(pathOf(page)).toBe('/host')
  await page.goBack()
  await untilAlive(page)
  await clickLink(page, '/nothing')
  await page.waitForURL('**/shop/nothing')
  expect(JSON.parse((await page.locator('body').textContent()) ?? '')).toMatchObject({ host: { url: '/shop/nothing' } })
})

browserTest('the error page of a click leads home within the base path', async ({ open }) => {
  const page = await open({ ...onHost(), allow: [statusComplaint(500)] })
  await page.goto('/shop')
  await untilAlive(page)
  await clickLink(page, '/broken')
  await heading(page, 'Failed')
  expect(pathOf(page)).toBe('/shop/broken')
  await clickLink(page, 'Home again')
  await heading(page, 'Home')
  expect(pathOf(page)).toBe('/shop')
})

describe.for(JAVASCRIPT)('with JavaScript $name', ({ javaScript }) => {
  browserTest('a form keeps its state, its session and its place', async ({ open }) => {
    const page = await open({ ...onHost(), javaScript, allow: [statusComplaint(422)] })
    await page.goto('/shop/order')
    if (javaScript) await untilAlive(page)
    await page.getByRole('button', { name: 'Order' }).click()
    await expect.poll(() => page.getByTestId('state').textContent()).toBe('goods is missing')
    await page.getByLabel('Goods').fill('flour')
    await page.getByRole('button', { name: 'Order' }).click()
    await expect.poll(() => page.getByTestId('goods').textContent()).toBe('flour')
    expect(await page.getByTestId('state').textContent()).toBe('ordered flour')
    expect((await page.context().cookies()).map(({ name }) => name).toSorted()).toEqual(['__Host-shop~basket', 'sid'])
    await page.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Goods 9')
    expect(pathOf(page)).toBe('/shop/goods/9')
    // Without scripts the way back leads to a form that was sent, which browsers ask about.
    if (!javaScript) return
    expect(await isSameDocument(page)).toBe(true)
    await page.goBack()
    await heading(page, 'Order')
    expect(pathOf(page)).toBe('/shop/order')
  })

  browserTest('the document of a failure leads home within the base path', async ({ open }) => {
    const page = await open({ ...onHost(), javaScript, allow: [statusComplaint(500)] })
    expect((await page.goto('/shop/broken'))?.status()).toBe(500)
    await heading(page, 'Failed')
    if (javaScript) await untilAlive(page)
    await clickLink(page, 'Home again')
    await heading(page, 'Home')
    expect(pathOf(page)).toBe('/shop')
  })

  browserTest('styles and their pictures are loaded from below the base path', async ({ open }) => {
    const page = await open({ ...onHost(), javaScript })
    const picture = page.waitForResponse((answer) =>
      new URL(answer.url()).pathname.startsWith('/shop/_m/assets/stripes-'),
    )
    await page.goto('/shop')
    expect((await picture).status()).toBe(200)
    const border = await page.locator('nav').evaluate((nav) => getComputedStyle(nav).borderLeftColor)
    expect(border).toBe('rgb(0, 128, 128)')
  })
})
