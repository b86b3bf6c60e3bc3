/** What `millrace export` writes, served by nginx: no server of ours is there. */
import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { freePorts } from '../support/free-ports.ts'
import { runNginx, type RunningNginx } from '../support/nginx.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { findProgram } from '../support/programs.ts'
import { clickLink, heading, pathOf } from '../support/router-page.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const SETUP_LIMIT_MS = 180_000 // for hangs only

const site: { nginx?: RunningNginx; end?: () => Promise<void>; told: readonly unknown[] } = { told: [] }

/** `npx millrace <args>` in the project. */
function millrace(...args: readonly string[]) {
  const command = ['--conditions=millrace-source', join(PROJECT, 'bin/millrace.js'), ...args]
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ORIGIN: 'https://millrace.example' }
  return run(process.execPath, command, { cwd: PROJECT, env, maxBuffer: 2 ** 24 })
}

/** A folder as any server of files has it: the handbook at the root, the shop with nothing set up but its place. */
const serverOf = (port: number): string => `server {
  listen 127.0.0.1:${port};
  root SITE/product;
  error_page 404 /404.html;
  location / { try_files $uri $uri/index.html =404; }
  location /shop/ { root SITE; error_page 404 /shop/404.html; absolute_redirect off; }
  location = /shop { return 301 /shop/; }
}`

describe.skipIf(findProgram('nginx') === undefined)('an exported site', () => {
  // Two builds, one of them in a process of its own.
  beforeAll(async () => {
    const folder = await makeTempDir('export')
    await chmod(folder.path, 0o755) // nginx's workers are another user where this one is root
    const dist = await buildFixture('export-app', folder, { basePath: '/shop' })
    const { exportSite } = (await import(pathToFileURL(join(dist, 'server/export.js')).href)) as {
      exportSite: (options: object) => Promise<object>
    }
    const shop = { folder: join(folder.path, 'shop'), isPartial: true, onProgress: () => undefined }
    const ofShop = await exportSite(shop)
    const { stdout, stderr } = await millrace('export', join(folder.path, 'product'), '--partial')
    site.told = [ofShop, stdout, stderr]
    const [port = 0] = await freePorts(1)
    site.nginx = await runNginx(port, serverOf(port), { SITE: folder.path })
    site.end = async () => {
      await site.nginx?.[Symbol.asyncDispose]()
      await folder.remove()
    }
  }, SETUP_LIMIT_MS)
  afterAll(() => site.end?.())

  const onSite = () => ({ context: { baseURL: site.nginx?.origin ?? '' } })

  /** Paths that are asked for from now on, without those of assets, each with its status. */
  function recordAnswers(page: Page): string[] {
    const answers: string[] = []
    page.on('response', (response) => {
      const { pathname, search } = new URL(response.url())
      if (!pathname.includes('/_m/assets/')) answers.push(`${response.status()} ${pathname}${search}`)
    })
    return answers
  }

  browserTest(
    'of this handbook is read with scripts by the router, and without them by the browser',
    async ({ open }) => {
      expect(site.told).toEqual([
        expect.objectContaining({ kind: 'exported', leftOut: [expect.objectContaining({ what: '/visits' })] }),
        expect.stringMatching(/^Exported \d+ pages, \d+ files, to /),
        expect.stringContaining('  /lab/guestbook: it has actions'),
      ])
      expect(String(site.told[2])).not.toContain('  /docs/[[')
      const origin = site.nginx?.origin ?? ''
      const missing = await fetch(`${origin}/docs/nothing`)
      expect([missing.status, await missing.text()]).toEqual([
        404,
        expect.stringContaining('There is no page at this address'),
      ])
      expect(await fetch(`${origin}/sitemap.xml`).then((answer) => answer.text())).toContain(
        'https://millrace.example/docs',
      )

      // One file for all addresses: what it says of them comes with the scripts, and does not contradict its HTML.
      const lost = await open({ ...onSite(), allow: [statusComplaint(404)] })
      await lost.goto('/docs/cachng')
      await lost
        .getByRole('navigation', { name: 'Did you mean' })
        .getByRole('link', { name: '/docs/caching' })
        .waitFor()

      const page = await open(onSite())
      await page.goto('/docs')
      await untilAlive(page)
      const answers = recordAnswers(page)
      const chapters = page.getByRole('navigation', { name: 'Chapters' })
      await chapters.getByRole('link', { name: 'Caching', exact: true }).click()
      await heading(page, 'Caching')
      await page.getByRole('link', { name: /^Next/ }).click()
      await page.waitForURL((url) => url.pathname !== '/docs/caching')
      await page.goBack()
      await heading(page, 'Caching')
      expect(pathOf(page)).toBe('/docs/caching')
      expect(await isSameDocument(page)).toBe(true)
      expect(answers).toContain('200 /_m/data/docs/caching/all.data')
      expect(answers.filter((answer) => !/^200 \/_m\/data\/.*all\.data$/.test(answer))).toEqual([])

      const plain = await open({ ...onSite(), javaScript: false })
      await plain.goto('/docs')
      await plain
        .getByRole('navigation', { name: 'Chapters' })
        .getByRole('link', { name: 'Caching', exact: true })
        .click()
      await heading(plain, 'Caching')
      expect(pathOf(plain)).toBe('/docs/caching')
    },
  )

  browserTest('below a base path hydrates at the address that the server of files makes of it', async ({ open }) => {
    const page = await open({ ...onSite(), allow: [statusComplaint(404)] })
    await page.goto('/shop/mills/1?from=mail#top')
    await untilAlive(page)
    expect(pathOf(page)).toBe('/shop/mills/1?from=mail')
    expect(await page.getByTestId('path').textContent()).toBe('/mills/1')
    expect(await page.getByTestId('owner').textContent()).toBe('Owner 1')
    await page.getByRole('button').click()
    await page.getByRole('button', { name: 'Clicked 1' }).waitFor()
    const answers = recordAnswers(page)
    await clickLink(page, 'Two')
    await heading(page, 'Mill 2')
    await page.getByText('Owner 2').waitFor()
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    expect(pathOf(page)).toBe('/shop')
    await clickLink(page, 'Old')
    await heading(page, 'Mill 1')
    expect(pathOf(page)).toBe('/shop/mills/1')
    await page.goBack()
    await heading(page, 'Home')
    expect(await isSameDocument(page)).toBe(true)
    expect(answers.filter((answer) => !/^(?:200|304) \/shop\/_m\/data\/.*all\.data$/.test(answer))).toEqual([])
    // It has been left out: the browser loads a document, and there is none.
    await clickLink(page, 'Visits')
    await heading(page, 'Not here')
    expect(pathOf(page)).toBe('/shop/visits')
    await untilAlive(page)
    await clickLink(page, 'Two')
    await heading(page, 'Mill 2')
  })

  browserTest('is left by a page of the export before it', async ({ open }) => {
    const page = await open({ ...onSite(), allow: [/Failed to load route data/] })
    await page.goto('/shop/')
    await untilAlive(page)
    await page.route('**/mills/2/all.data', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/"build":"\w+"/, '"build":"another"'),
      })
    })
    await clickLink(page, 'Two')
    await heading(page, 'Mill 2')
    expect(await isSameDocument(page)).toBe(false)
  })
})
