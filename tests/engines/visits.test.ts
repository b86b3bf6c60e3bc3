/**
 * Visits of the reference application in Firefox and in Safari's engine. What every browser does alike is tested in
 * Chromium (`tests/browser`); here is a little of everything, and what engines are known to do differently.
 */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import type { EnginePage } from '../support/engines/engine-page.ts'
import { expectHeading, expectShown, press, travel, type, visit } from '../support/engines/engine-visits.ts'
import { findEngines } from '../support/engines/find-engines.ts'
import { suiteEngine } from '../support/engines/suite-engine.ts'

declare global {
  interface Window {
    /** Only of a document that the test has seen alive. */
    faults?: string[]
  }
}

let server: BuiltServer
beforeAll(async () => {
  server = await startBuiltServer()
})
afterAll(async () => void (await server.stop()))

/** Visits a page; collects from then on what goes wrong there. */
async function visitWatched(page: EnginePage, path: string): Promise<void> {
  await visit(page, server.origin + path)
  await page.run(() => {
    const faults: string[] = []
    window.faults = faults
    for (const kind of ['error', 'warn'] as const) console[kind] = (...args: unknown[]) => faults.push(args.join(' '))
    addEventListener('error', ({ message }) => faults.push(message))
    addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)))
  })
}

/** Clicks a link without coming near it before: nothing is fetched ahead. */
function follow(page: EnginePage, href: string): Promise<unknown> {
  return page.run((to) => {
    const link = document.createElement('a')
    Object.assign(link, { href: to }).dataset['prefetch'] = 'none'
    document.querySelector('main')?.append(link)
    link.click()
    link.remove()
  }, href)
}

function expectAt(page: EnginePage, path: string, top: number): Promise<void> {
  return page.until((to, y) => location.pathname + location.hash === to && Math.abs(scrollY - y) < 1, path, top)
}

/** Still the document that was alive, and nothing has gone wrong in it. */
async function expectSound(page: EnginePage): Promise<void> {
  expect(await page.run(() => window.faults ?? ['another document'])).toEqual([])
}

const scroll = (page: EnginePage, top: number): Promise<unknown> => page.run((y) => scrollTo(0, y), top)

describe.for(findEngines())('$name', (engine) => {
  const page = suiteEngine(engine)

  test('a click shows the page in the same document, with focus, title and address', async () => {
    await visitWatched(page, '/lab/cache/1')
    await follow(page, '/lab/cache/2')
    await expectHeading(page, 'Key 2')
    expect(await page.run(() => [location.pathname, document.activeElement?.textContent])).toEqual([
      '/lab/cache/2',
      'Key 2',
    ])
    expect(await page.run(() => document.title)).toContain('Cache key 2')
    await expectSound(page)
  })

  test('back and forward lead to where a visitor was', async () => {
    await visitWatched(page, '/lab')
    await scroll(page, 700)
    await follow(page, '/lab/cache/7')
    await expectHeading(page, 'Key 7')
    await expectAt(page, '/lab/cache/7', 0)
    await travel(page, -1)
    await expectHeading(page, 'Lab')
    await expectAt(page, '/lab', 700)
    await travel(page, 1)
    await expectHeading(page, 'Key 7')
    await expectSound(page)
  })

  test('HTML of a loader is that of the document, by a click that of the next page, and by Back again the first', async () => {
    await visitWatched(page, '/lab/html/5')
    const shown = (): Promise<string | undefined> =>
      page.run(() => document.querySelector('[data-testid=rendered-html]')?.textContent)
    const first = await shown()
    expect(first).toContain('About mill 5')
    await page.run(() =>
      document.querySelector<HTMLAnchorElement>('[data-testid=rendered-html] li a[href$="/6"]')?.click(),
    )
    await expectHeading(page, 'HTML 6')
    expect(await shown()).toContain('About mill 6')
    await travel(page, -1)
    await expectHeading(page, 'HTML 5')
    expect(await shown()).toBe(first)
    await expectSound(page)
  })

  test('a kept page hydrates, is the same by a click and Back, and is gone when an action drops it', async () => {
    const [first, second] = [randomUUID(), randomUUID()].map((key) => `/lab/kept/${key}?s=600`)
    const shown = (): Promise<string | null | undefined> =>
      page.run(() => document.querySelector('[data-testid=rendered-at]')?.textContent)
    const other = await (await fetch(`${server.origin}${second}`)).text()
    await visitWatched(page, first ?? '')
    const made = await shown()
    await follow(page, second ?? '')
    await page.until(
      (to) => document.querySelector('h1')?.textContent?.includes(to) === true,
      second?.slice(10, 46) ?? '',
    )
    expect(other).toContain(await shown())
    await travel(page, -1)
    await page.until((text) => document.querySelector('[data-testid=rendered-at]')?.textContent === text, made)
    await press(page, 'Drop the document')
    await page.until((text) => document.querySelector('[data-testid=rendered-at]')?.textContent !== text, made)
    await expectSound(page)
    await visit(page, server.origin + first)
    expect(await shown()).not.toBe(made)
  })

  test('a kept shell has a slot for each visitor, with document and click, and goes when an action drops it', async () => {
    const path = `/lab/shell/${randomUUID()}?s=600`
    const shown = (): Promise<string | null | undefined> =>
      page.run(() => document.querySelector('[data-testid=rendered-at]')?.textContent)
    const made: unknown[] = []
    for (const name of ['nobody', 'ann', 'bob']) {
      await visit(page, `${server.origin}/lab`)
      await page.run((value) => {
        document.cookie = `visitor=${value}; path=/; max-age=${value === 'nobody' ? 0 : 600}`
      }, name)
      await visitWatched(page, path)
      await expectShown(page, 'visitor', name)
      await press(page, 'Greet (0)')
      await expectShown(page, 'greet', 'Greet (1)')
      made.push(await shown())
    }
    expect(new Set(made).size).toBe(1)
    await follow(page, `/lab/shell/${randomUUID()}?s=600`)
    await page.until((text) => document.querySelector('[data-testid=rendered-at]')?.textContent !== text, made[0])
    await expectShown(page, 'visitor', 'bob')
    await travel(page, -1)
    await page.until((text) => document.querySelector('[data-testid=rendered-at]')?.textContent === text, made[0])
    await expectShown(page, 'visitor', 'bob')
    await page.run(() => {
      const field = document.querySelector('#name-form input')
      if (field instanceof HTMLInputElement) field.value = 'eve'
    })
    await press(page, 'Keep the name')
    await expectShown(page, 'visitor', 'eve')
    await press(page, 'Drop the cached part')
    await page.until((text) => document.querySelector('[data-testid=rendered-at]')?.textContent !== text, made[0])
    await expectShown(page, 'visitor', 'eve')
    await expectSound(page)
  })

  test('back from a fragment leads to where a visitor was before it', async () => {
    await visitWatched(page, '/lab')
    await scroll(page, 150)
    await page.run(() => [...document.querySelectorAll('a')].find(({ hash }) => hash === '#data')?.click())
    await page.until(() => location.hash === '#data' && scrollY !== 150)
    await travel(page, -1)
    await expectAt(page, '/lab', 150)
    await expectSound(page)
  })

  test('back from another document, and a reload, lead to where a visitor was', async () => {
    await visitWatched(page, '/lab')
    await scroll(page, 500)
    await page.run(() => void setTimeout(() => location.assign('/docs')))
    await page.until(() => location.pathname === '/docs' && history.state?.millrace !== undefined)
    await travel(page, -1)
    await expectHeading(page, 'Lab')
    await expectAt(page, '/lab', 500)
    await page.run(() => {
      window.faults = ['of the document before']
      setTimeout(() => location.reload())
    })
    await page.until(() => window.faults === undefined && document.readyState === 'complete')
    await expectAt(page, '/lab', 500)
  })

  test('what is deferred comes behind the page, with the document and without', async () => {
    await visitWatched(page, '/lab')
    await follow(page, '/lab/stream?delay=300')
    await page.until(() => document.querySelector('[data-testid=deferred]') !== null)
    await expectSound(page)
    await visitWatched(page, '/lab/stream?delay=301')
    await page.until(() => document.querySelector('[data-testid=deferred]') !== null)
    await expectSound(page)
  })

  test.for([
    ['/lab/redirect/temporary', 'h1', 'Landed'],
    ['/lab/redirect/late', 'h1', 'Landed'],
    ['/lab/old/7', '[data-testid=params]', '"7"'],
    ['/nowhere', '[data-testid=fallback]', 'Not found'],
    ['/lab/not-found/late', '[data-testid=fallback]', 'Not found'],
    ['/lab/forbidden', '[data-testid=fallback]', 'Forbidden'],
    ['/lab/crash/late', '[data-testid=error]', 'a server-side exception has occurred'],
    ['/lab/flaky/KEY?fail=1', '[data-testid=attempts]', '2'],
  ] as const)('%s ends as it should', async ([href, selector, text]) => {
    await visitWatched(page, '/lab')
    await follow(page, href.replace('KEY', randomUUID()))
    await page.until((what, part) => document.querySelector(what)?.textContent?.includes(part) === true, selector, text)
    expect(await page.run(() => window.faults !== undefined)).toBe(true)
  })

  test('a form shows what is wrong with it, and is taken then', async () => {
    await visitWatched(page, '/lab/guestbook')
    await page.run(() => document.querySelectorAll('form').forEach((form) => (form.noValidate = true)))
    await press(page, 'Sign the guestbook')
    await page.until(() => Boolean(document.querySelector('[data-testid=error-name]')?.textContent))
    const message = `Written in ${engine.name}: ${randomUUID()}`
    await type(page, 'name', engine.name)
    await type(page, 'message', message)
    await press(page, 'Sign the guestbook')
    await expectShown(page, 'entries', message)
    await expectSound(page)
  })

  test('a file is sent', async () => {
    await visitWatched(page, '/lab/upload')
    await page.run(() => {
      const files = new DataTransfer()
      files.items.add(new File(['mill'.repeat(250_000)], 'mill.txt'))
      const control = document.querySelector('input[type=file]') as HTMLInputElement
      control.files = files.files
      control.dispatchEvent(new Event('change', { bubbles: true }))
      control.form?.requestSubmit()
    })
    await expectShown(page, 'sha256', createHash('sha256').update('mill'.repeat(250_000)).digest('hex'))
    await expectSound(page)
  })

  test('a session lasts', async () => {
    await visitWatched(page, '/lab/session')
    await press(page, 'Sign in as admin')
    await expectShown(page, 'role', 'admin')
    await visitWatched(page, '/lab/private')
    await expectShown(page, 'private', 'admin')
  })

  test('what fails in the page is shown by the error page', async () => {
    await visitWatched(page, '/lab/crash/client')
    await page.run(() => document.querySelector<HTMLElement>('[data-testid=throw-render]')?.click())
    await expectShown(page, 'error', 'a client-side exception has occurred')
  })
})
