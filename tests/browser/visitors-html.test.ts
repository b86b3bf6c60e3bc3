/** HTML that visitors wrote, sanitized of scripts but with its ids and names: none of them may change how a page hydrates. */
import { assert, asyncProperty, boolean, constantFrom, oneof, string } from 'fast-check'
import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'

/** What a script that React has put into a document says whose `document.getElementById` is hidden; the page recovers. */
const HIDDEN_BEFORE_THE_PAGE_WAS_ALIVE = [
  /getElementById|is not a function|could not finish this Suspense boundary|#419/,
]

/** What our scripts and React's look for, in `document`, in `window` and by id. */
const SOUGHT = [
  'millrace', '__millrace', 'millraceReports', 'millrace-announcer',
  'B:0', 'S:0', 'P:0', 'S:1', 'B:1', '_R_', '_R_0_', '_R_1_', '$RC', '$RB', '$RV', '$RT', '$RS', '$RX', '$$reactFormReplay',
  'body', 'head', 'forms', 'scripts', 'title', 'cookie', 'readyState', 'documentElement', 'activeElement', 'defaultView',
  'createElement', 'createElementNS', 'createTextNode', 'createComment', 'getElementById', 'querySelector', 'querySelectorAll',
  'addEventListener', 'dispatchEvent', 'nodeType', 'ownerDocument', 'documentMode', 'oninput', 'implementation',
  'startViewTransition', 'location', 'history', 'self', 'Array', 'Object', '__REACT_DEVTOOLS_GLOBAL_HOOK__', 'constructor',
] // prettier-ignore

const ELEMENTS = [
  (name: string) => `<h2 id="${name}">a heading</h2>`,
  (name: string) => `<a id="${name}" name="${name}" href="https://mill.example/">a link</a><a id="${name}">another one</a>`,
  (name: string) => `<img name="${name}" id="${name}" alt="">`,
  (name: string) => `<form name="${name}" id="${name}"><input name="push"><input name="getAttribute"><input name="textContent"></form>`,
  (name: string) => `<object id="${name}" name="${name}"></object>`,
  (name: string) => `<embed name="${name}">`,
  (name: string) => `<iframe name="${name}" id="${name}"></iframe>`,
  (name: string) => `<template id="${name}"><p>{"v":3}</p></template>`,
  (name: string) => `<svg id="${name}"><title>{"v":3}</title></svg>`,
] // prettier-ignore

async function expectClicks(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      await page.locator('[data-testid=clicks]').click()
      return Number(await page.locator('[data-testid=clicks]').textContent())
    })
    .toBeGreaterThan(0)
}

async function expectCut(page: Page, late: string): Promise<void> {
  await page.goto(`/visitors?name=${encodeURIComponent('mill 🌾')}${late}`)
  await expectClicks(page)
  expect(await page.locator('[data-testid=start]').textContent()).toBe('mill \ufffd')
}

/** Goes to it from the page on screen by a link, without a document. */
async function follow(page: Page, value: string): Promise<void> {
  await page.evaluate(
    (href) => {
      const link = Object.assign(document.createElement('a'), { href, textContent: 'visitors' })
      Document.prototype.querySelector.call(document, 'main')?.prepend(link)
      link.click()
      link.remove()
    },
    `/visitors?${new URLSearchParams({ value }).toString()}`,
  )
  await page.waitForURL((url) => url.searchParams.get('value') === value)
  await expectClicks(page)
  expect(await isSameDocument(page)).toBe(true)
}

/** A page from which `follow` leads on. */
async function openElsewhere(page: Page): Promise<void> {
  await page.goto('/editor')
  await untilAlive(page)
}

/** Opens the page and uses it: what React has taken over counts clicks and repeats what is typed. */
async function expectAlive(page: Page, html: string, late: string | undefined): Promise<void> {
  const search = new URLSearchParams({ html, ...(late === undefined ? {} : { late }) })
  const answer = await page.goto(`/visitors?${search.toString()}`)
  expect(answer?.status()).toBe(200)
  await expectClicks(page)
  await page.locator('[data-testid=typed]').fill('typed')
  expect(await page.locator('[data-testid=echo]').textContent()).toBe('typed')
  // In its place, and not left where the server has put it.
  const hole = page.locator('main > [data-testid=late]')
  await expect.poll(() => hole.count()).toBe(late === undefined ? 0 : 1)
}

/** Several names a page, within what a URL may hold. */
const PAGES = Array.from({ length: Math.ceil(SOUGHT.length / 12) }, (_, at) => SOUGHT.slice(at * 12, at * 12 + 12))

describe.for(ELEMENTS.map((element) => ({ element, html: element('x') })))('$html', ({ element }) => {
  browserTest('in a whole document', async ({ open }) => {
    const page = await open({ allow: HIDDEN_BEFORE_THE_PAGE_WAS_ALIVE })
    for (const names of PAGES) await expectAlive(page, names.map(element).join(''), undefined)
  })

  browserTest('in a page that is opened by a link, and again in its place', async ({ open }) => {
    const page = await open()
    await openElsewhere(page)
    for (const names of PAGES) await follow(page, names.map(element).join(''))
  })

  browserTest('in the shell of a streamed one, and in a hole', async ({ open }) => {
    const page = await open({ allow: HIDDEN_BEFORE_THE_PAGE_WAS_ALIVE })
    for (const names of PAGES) {
      await expectAlive(page, names.map(element).join(''), 'late')
      await expectAlive(page, '', names.map(element).join(''))
    }
  })
})

browserTest('a text that was cut through an emoji is hydrated as it is in the document', async ({ open }) => {
  const page = await open()
  for (const late of ['', '&late=later']) await expectCut(page, late)
})

describe('a form of a visitor, with a field that hides where it is', () => {
  const FORMS = ['parentNode', 'nodeType', 'ownerDocument', 'addEventListener'].map(
    (name) => `<form action="/search"><input name="${name}"><img id="${name}" alt=""><button>find it</button></form>`,
  )

  browserTest('does not stop a page when the mouse is over it', async ({ open }) => {
    const page = await open()
    for (const value of FORMS) {
      await page.goto(`/visitors?${new URLSearchParams({ value }).toString()}`)
      await expectClicks(page)
      await page.getByRole('button', { name: 'find it' }).hover()
      await expectClicks(page)
    }
    await openElsewhere(page)
    for (const value of FORMS) {
      await follow(page, value)
      await page.getByRole('button', { name: 'find it' }).hover()
      await expectClicks(page)
    }
  })

  browserTest('sends its other fields', async ({ open }) => {
    const page = await open()
    await openElsewhere(page)
    await follow(page, '<form action="/editor"><input name="contains" value="a"><input name="title" value="b"><input name="nodeType"><button>find it</button></form>') // prettier-ignore
    await page.getByRole('button', { name: 'find it' }).click()
    await page.waitForURL('**/editor?contains=a&title=b')
  })
})

describe('a link of a visitor', () => {
  browserTest('is not prefetched before somebody points at it', async ({ open }) => {
    const page = await open()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const value = '<p data-prefetch="render"><a href="/mills/7" data-prefetch="render">a mill</a></p>'
    for (const way of ['document', 'link']) {
      asked.length = 0
      if (way === 'link') {
        await openElsewhere(page)
        await follow(page, value)
      } else await page.goto(`/visitors?${new URLSearchParams({ value }).toString()}`)
      await untilAlive(page)
      // The application's own is.
      await page.evaluate(() => {
        const link = '<a href="/mills/8" data-prefetch="render">8</a>'
        document.querySelector('main')?.insertAdjacentHTML('beforeend', link)
      })
      await expect.poll(() => asked).toContain('/_m/data/mills/8')
      expect(asked).not.toContain('/_m/data/mills/7')
    }
    await page.getByRole('link', { name: 'a mill' }).hover()
    await expect.poll(() => asked).toContain('/_m/data/mills/7')
  })
})

browserTest('HTML from which a name had to go is parsed once', async ({ open }) => {
  const page = await open()
  await openElsewhere(page)
  // Each time that it is parsed and written, a line is lost.
  await follow(page, '<img name="createElement" alt=""><pre>\n\n\nlast</pre>')
  expect(
    await page
      .locator('[data-html-value] pre')
      .last()
      .evaluate((element) => element.textContent),
  ).toBe('\n\nlast')
  expect(await page.locator('img[name]').count()).toBe(0)
})

const anyName = string({ minLength: 1, maxLength: 12 }).map((text) => text.replaceAll(/["&<>]/g, '_'))

browserTest('any id or name', async ({ open }) => {
  const page = await open({ allow: HIDDEN_BEFORE_THE_PAGE_WAS_ALIVE })
  await assert(
    asyncProperty(
      constantFrom(...ELEMENTS),
      oneof(constantFrom(...SOUGHT), anyName),
      boolean(),
      (element, name, streams) => expectAlive(page, element(name), streams ? element(name) : undefined),
    ),
    { numRuns: 30 },
  )
})
