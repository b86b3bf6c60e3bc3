import type { Request } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { follow, heading, openAlive, recordData, sameDocument } from '../support/followed-links.ts'

describe('a click on a link', () => {
  browserTest('shows the page without loading a document, and asks for its data once', async ({ open }) => {
    const page = await openAlive(open, '/lab/cache/1')
    const asked = recordData(page)
    await follow(page, '/lab/cache/2')
    await heading(page, 'Key 2')
    expect(new URL(page.url()).pathname).toBe('/lab/cache/2')
    expect(await page.title()).toContain('Cache key 2')
    expect(asked).toEqual(['/lab/cache/2'])
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest(
    'to a path with a slash too many shows the page under its own path, in the same document',
    async ({ open }) => {
      const page = await openAlive(open, '/lab/cache/1')
      const entries = await page.evaluate(() => history.length)
      for (const [href, key] of [
        ['/lab/cache/2/', '2'],
        ['/lab//cache///3', '3'],
        [`${new URL(page.url()).origin}//lab/cache/4/?x=1#top`, '4'],
      ] as const) {
        await follow(page, href)
        await heading(page, `Key ${key}`)
        expect(new URL(page.url()).pathname).toBe(`/lab/cache/${key}`)
      }
      expect(page.url()).toContain('/4?x=1#top')
      expect(await page.evaluate(() => history.length)).toBe(entries + 3)
      expect(await sameDocument(page)).toBe(true)
    },
  )

  browserTest('whose page was fetched ahead makes no request', async ({ open }) => {
    const page = await openAlive(open, '/lab/cache/1')
    const asked = recordData(page)
    const isAhead = (one: Request): boolean => /_m\/data\/lab\/cache\/3/.test(one.url())
    // Chromium takes some answers for broken off that have come as a whole.
    const over = Promise.race([
      page.waitForEvent('requestfinished', isAhead),
      page.waitForEvent('requestfailed', isAhead),
    ])
    await page.getByRole('link', { name: '3', exact: true }).hover()
    await over
    expect(asked).toEqual(['/lab/cache/3 ahead'])
    await page.getByRole('link', { name: '3', exact: true }).click()
    await heading(page, 'Key 3')
    expect(asked).toEqual(['/lab/cache/3 ahead'])
  })

  browserTest('with a modifier is the browser’s own', async ({ open }) => {
    const page = await openAlive(open, '/lab/cache/1')
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: '2', exact: true }).click({ modifiers: ['ControlOrMeta'] })
    const other = await opened
    await other.waitForURL('**/lab/cache/2')
    expect(new URL(page.url()).pathname).toBe('/lab/cache/1')
  })

  browserTest('on a resource route loads it as the browser does', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await follow(page, '/lab/feed.json')
    await page.waitForURL('**/lab/feed.json')
    expect(await sameDocument(page)).toBe(false)
  })
})

describe('back and forward', () => {
  browserTest('show what was there, without a request, where it was scrolled to', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await page.evaluate(() => scrollTo(0, 700))
    await follow(page, '/lab/cache/7')
    await heading(page, 'Key 7')
    expect(await page.evaluate(() => scrollY)).toBe(0)
    const moment = await page.getByTestId('rendered-at').textContent()
    const asked = recordData(page)
    await page.goBack()
    await heading(page, 'Lab')
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(700)
    await page.goForward()
    await heading(page, 'Key 7')
    expect(await page.getByTestId('rendered-at').textContent()).toBe(moment)
    expect(asked.filter((path) => !path.endsWith(' ahead'))).toEqual([])
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest(
    'to a page that was left by a click and must be loaded again: where it was scrolled to',
    async ({ open }) => {
      const page = await openAlive(open, '/lab')
      await page.evaluate(() => scrollTo(0, 700))
      await follow(page, '/lab/cache/7')
      await heading(page, 'Key 7')
      await page.goto('/docs')
      await page.evaluate(() => void setTimeout(() => history.go(-2))) // answered before this document is left
      await heading(page, 'Lab')
      await expect.poll(() => page.evaluate(() => scrollY)).toBe(700)
    },
  )

  browserTest('go through fragments of a page without leaving it', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await page.getByRole('link', { name: 'Loading data' }).click()
    expect(new URL(page.url()).hash).toBe('#data')
    await page.goBack()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
    expect(await sameDocument(page)).toBe(true)
  })
})

describe('what is known of a page', () => {
  browserTest('is used for 60 s, then shown and asked for again, and after 300 s forgotten', async ({ open }) => {
    const page = await open()
    await page.clock.install()
    await page.goto('/lab/cache/1')
    await page.waitForFunction(() => history.state?.millrace !== undefined)
    await page.locator('h1').click()
    const moment = await page.getByTestId('rendered-at').textContent()
    const asked = recordData(page)
    await follow(page, '/lab/landed')
    await heading(page, 'Landed')

    await page.clock.fastForward(50_000)
    await page.goBack()
    await heading(page, 'Key 1')
    expect(asked).toEqual([])
    expect(await page.getByTestId('rendered-at').textContent()).toBe(moment)

    await page.goForward()
    await heading(page, 'Landed')
    await page.clock.fastForward(30_000)
    await page.goBack()
    await heading(page, 'Key 1')
    await expect.poll(() => page.getByTestId('rendered-at').textContent()).not.toBe(moment)
    expect(asked).toEqual(['/lab/cache/1'])
  })
})

describe('while a page is on its way', () => {
  browserTest('a second click cancels the first and its request', async ({ open }) => {
    const page = await openAlive(open, '/lab/cache/1')
    const aborted = page.waitForEvent('requestfailed', (request) => request.url().includes('/_m/data/lab/slow/'))
    await follow(page, '/lab/slow/20000')
    await follow(page, '/lab/cache/2')
    await heading(page, 'Key 2')
    expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED')

    // Back to a page that is on its way, and on from the one on the screen: that one is not lost.
    await page.evaluate(async () => {
      const [sender, receiver] = [new BroadcastChannel('millrace'), new BroadcastChannel('millrace')]
      const heard = new Promise((resolve) => receiver.addEventListener('message', resolve))
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
      sender.postMessage(['/lab/cache/1'])
      await heard
      for (const channel of [sender, receiver]) channel.close()
    })
    await page.route('**/_m/data/lab/cache/1*', () => undefined)
    await page.evaluate(() => history.back())
    await expect.poll(() => new URL(page.url()).pathname).toBe('/lab/cache/1')
    await follow(page, '/lab/cache/3')
    await heading(page, 'Key 3')
    await page.unrouteAll()
    await page.goBack()
    await heading(page, 'Key 2')
    await page.goBack()
    await heading(page, 'Key 1')
  })

  browserTest('the network may fail and come back', async ({ open }) => {
    const page = await openAlive(open, '/lab/cache/1', [/ERR_INTERNET_DISCONNECTED/, /Failed to fetch/])
    await page.context().setOffline(true)
    await follow(page, '/lab/cache/2')
    await page.getByTestId('error').waitFor()
    expect(await page.getByTestId('error').textContent()).toBe('This page has not arrived')
    await page.context().setOffline(false)
    await heading(page, 'Key 2')
    expect(await sameDocument(page)).toBe(true)
  })

  browserTest('so it may on the way to a page whose code is not here yet', async ({ open }) => {
    const page = await openAlive(open, '/lab/cache/1', [/ERR_INTERNET_DISCONNECTED/, /Failed to (?:fetch|load)/])
    await page.context().setOffline(true)
    await follow(page, '/docs')
    await page.getByTestId('error').waitFor()
    expect(await sameDocument(page)).toBe(true)
    await page.context().setOffline(false)
    await heading(page, 'What Millrace is')
  })
})

describe('people', () => {
  browserTest('find the focus on the new heading, and hear the title', async ({ open }) => {
    const page = await openAlive(open, '/lab')
    await follow(page, '/lab/cache/4')
    await heading(page, 'Key 4')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Key 4')
    await expect.poll(() => page.locator('#millrace-announcer').textContent()).toContain('Cache key 4')
  })

  browserTest('keep the state of a layout that stays', async ({ open }) => {
    const page = await openAlive(open, '/docs')
    // Typed, it would open the dialog.
    await page.getByRole('searchbox').evaluate((box: HTMLInputElement) => (box.value = 'loader'))
    await follow(page, '/docs/loaders')
    await page.waitForURL('**/docs/loaders')
    expect(await page.getByRole('searchbox').inputValue()).toBe('loader')
  })
})

describe('links in view', () => {
  browserTest(
    'are fetched ahead three at a time, never twice, and not where that was switched off',
    async ({ open }) => {
      const page = await open()
      const running = new Set<Request>()
      let most = 0
      await page.route('**/_m/data/**', async (route) => {
        running.add(route.request())
        most = Math.max(most, running.size)
        const answer = await route.fetch()
        running.delete(route.request()) // before the router hears of it, and may ask for the next
        await route.fulfill({ response: answer })
      })
      page.on('requestfailed', (given) => running.delete(given)) // given up: its link has left the view
      const asked = recordData(page)
      await page.goto('/lab/bench/links?n=1000')
      await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThan(20)
      // All of them come into view, one screen after the other.
      await page.evaluate(`(async () => {
        for (let top = 0; top < document.body.scrollHeight; top += innerHeight) {
          scrollTo(0, top)
          await new Promise((go) => setTimeout(go, 50))
        }
      })()`)
      await expect.poll(() => running.size, { timeout: 30_000 }).toBe(0)
      await page.waitForTimeout(1000) // nothing is what is waited for
      expect(most).toBeGreaterThan(1)
      expect(most).toBeLessThanOrEqual(3)
      expect(new Set(asked).size).toBe(asked.length)
      expect(asked.length).toBeLessThanOrEqual(30)
    },
  )

  browserTest('stop asking for as long as a busy server says', async ({ open }) => {
    const page = await open({ allow: [/responded with a status of 503 /] })
    await page.route('**/_m/data/**', (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '60' } }))
    const asked = recordData(page)
    await page.goto('/lab/bench/links?n=200')
    await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThan(0)
    await page.waitForTimeout(1000) // nothing is what is waited for
    expect(asked.length).toBeLessThanOrEqual(3)
  })
})
