import { renderToString } from 'react-dom/server'
import { createElement } from 'react'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createDocumentPolicies } from '../../src/server/routes/render/document-policy.ts'
import type { OpenPage } from '../support/browser.ts'
import { moduleTest, NONCE, serveModule, until } from '../support/module-page.ts'

const SCRIPT = `
import { announcePage } from './src/client/core/page/page-focus.ts'
Object.assign(window, { announce: (before) => announcePage(document, before) })
`

/** A link was clicked, and is still there. */
const LINK = '<nav><a href="#x" id="link">link</a></nav>'
const FAR = '<div class="far"></div>'
const MAIN = `<main>${FAR}<h1 id="heading">News</h1><p><a id="inside" href="/y">inside</a></p></main>`

async function openPage(open: OpenPage, body: string, path = '/'): Promise<Page> {
  const site = await serveModule({
    script: SCRIPT,
    pages: { '*': body },
    head: '<link rel="stylesheet" href="/far.css"><title>First</title>',
    files: { '/far.css': '.far { height: 3000px } .hidden { display: none }' },
    // Stricter than that of documents: what works here works with every policy.
    policy: createDocumentPolicies({ inline: [] }, false).withNonce(NONCE).replace(" 'unsafe-inline'", ''),
  })
  const page = await open()
  await page.goto(`${site.origin}${path}`)
  await until(page, `'announce' in window`)
  return page
}

function focused(page: Page): Promise<string> {
  return page.evaluate(`document.activeElement.id || document.activeElement.localName`)
}

function spoken(page: Page): Promise<string | null> {
  return page.getByRole('status').textContent()
}

describe('after a navigation the focus', () => {
  moduleTest('goes to the heading of the new page, and nothing scrolls', async ({ open }) => {
    const page = await openPage(open, `<h1>Site</h1>${LINK}${MAIN}`)
    await page.focus('#link')
    await page.evaluate('announce(link)')
    expect(await focused(page)).toBe('heading')
    expect(await page.evaluate('scrollY')).toBe(0)
    // Nor the next time, when the heading can take it at once.
    await page.evaluate('link.focus(); announce(link)')
    expect(await focused(page)).toBe('heading')
    expect(await page.evaluate('scrollY')).toBe(0)
    // Reached by the router, not by the tab key; and the next tab goes on from there.
    expect(await page.getAttribute('#heading', 'tabindex')).toBe('-1')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('inside')
  })

  moduleTest.for([
    ['the first heading where the main part has none', `${LINK}<h1 id="site">Site</h1><main>text</main>`, 'site'],
    [
      'a heading that can be seen',
      `<main><div class="hidden"><h1 id="old">Old</h1></div><h1 id="new">New</h1></main>`,
      'new',
    ],
    ['the main part where there is no heading', `${LINK}<main id="main">text</main>`, 'main'],
    ['the page where there is nothing else', `${LINK}<p>text</p>`, 'body'],
    [
      'an element that asks for it',
      `<input autofocus id="other">${MAIN}<main><input autofocus id="wish"></main>`,
      'wish',
    ],
  ] as const)('goes to %s', async ([, body, id], { open }) => {
    const page = await openPage(open, body)
    await page.evaluate('document.activeElement.blur(); announce()')
    expect(await focused(page)).toBe(id)
  })

  moduleTest('goes to an element that asks for it once, and not again on later pages', async ({ open }) => {
    const page = await openPage(open, `<main><input autofocus id="wish"><h1 id="heading">News</h1></main>`)
    await page.evaluate('announce()')
    expect(await focused(page)).toBe('wish')
    await page.evaluate('announce()')
    expect(await focused(page)).toBe('heading')
  })

  moduleTest('goes to the target of the fragment, and leaves links in the order of the tab key', async ({ open }) => {
    const page = await openPage(open, `${MAIN}<section id="part">part</section>`, '/#inside')
    await page.evaluate('announce()')
    expect(await focused(page)).toBe('inside')
    expect(await page.getAttribute('#inside', 'tabindex')).toBeNull()
    await page.evaluate(`history.replaceState(null, '', '#part'); announce()`)
    expect(await focused(page)).toBe('part')
  })

  moduleTest('goes to the heading where a fragment names nothing', async ({ open }) => {
    const page = await openPage(open, MAIN, '/#nothing')
    await page.evaluate('announce()')
    expect(await focused(page)).toBe('heading')
  })

  moduleTest('stays inside of what keeps it, until that has gone', async ({ open }) => {
    const page = await openPage(open, `<search data-focus="keep"><input id="field"></search>${MAIN}`)
    await page.focus('#field')
    await page.evaluate('announce(field)')
    expect(await focused(page)).toBe('field')
    await page.evaluate('field.remove(); announce()')
    expect(await focused(page)).toBe('heading')
  })

  moduleTest('stays where it is when a layout that keeps it holds the heading', async ({ open }) => {
    const page = await openPage(open, `${LINK}<div data-focus="keep">${MAIN}</div>`)
    await page.focus('#link')
    await page.evaluate('announce(link)')
    expect(await focused(page)).toBe('link')
  })

  moduleTest('stays where the new page has moved it', async ({ open }) => {
    const page = await openPage(open, `${LINK}${MAIN}`)
    await page.focus('#link')
    await page.evaluate('inside.focus(); announce(link)')
    expect(await focused(page)).toBe('inside')
  })
})

describe('after a navigation a screen reader', () => {
  moduleTest('is told the title, which takes no room on the screen', async ({ open }) => {
    const page = await openPage(open, MAIN)
    expect(await page.getByRole('status').count()).toBe(0)
    await page.evaluate(`document.title = 'Second'; announce()`)
    await expect.poll(() => spoken(page)).toBe('Second')
    const region = page.getByRole('status')
    expect(await region.getAttribute('aria-live')).toBe('polite')
    expect(await region.boundingBox()).toMatchObject({ width: 1, height: 1 })
    expect(await region.evaluate((element) => element === document.body.lastElementChild)).toBe(true)
  })

  moduleTest('is told the heading where there is no title', async ({ open }) => {
    const page = await openPage(open, MAIN)
    await page.evaluate(`document.title = ''; announce()`)
    await expect.poll(() => spoken(page)).toBe('News')
  })

  moduleTest('is told a title that comes a little later', async ({ open }) => {
    const page = await openPage(open, MAIN)
    await page.evaluate(`announce(); Promise.resolve().then(() => { document.title = 'Late' })`)
    await expect.poll(() => spoken(page)).toBe('Late')
  })

  moduleTest('is told an equal title again', async ({ open }) => {
    const page = await openPage(open, MAIN)
    await page.evaluate('announce()')
    await expect.poll(() => spoken(page)).toBe('First')
    await page.evaluate(`
      window.told = []
      const region = document.querySelector('[role=status]')
      new MutationObserver(() => told.push(region.textContent)).observe(region, { childList: true })
      announce()
    `)
    await expect.poll(() => page.evaluate('told')).toEqual(['', 'First'])
  })

  moduleTest('is told once of two navigations in one moment', async ({ open }) => {
    const page = await openPage(open, MAIN)
    await page.clock.install()
    await page.evaluate('announce()')
    await page.clock.runFor(1000)
    await page.evaluate(`
      window.told = []
      const region = document.querySelector('[role=status]')
      new MutationObserver(() => region.textContent && told.push(region.textContent)).observe(region, { childList: true })
      document.title = 'Overtaken'
      announce()
      document.title = 'Second'
      announce()
    `)
    await page.clock.runFor(1000)
    expect(await page.evaluate('told')).toEqual(['Second'])
  })

  moduleTest('is told also when something has cleared the page', async ({ open }) => {
    const page = await openPage(open, MAIN)
    await page.evaluate(
      `announce(); document.querySelector('[role=status]').remove(); document.title = 'Next'; announce()`,
    )
    await expect.poll(() => spoken(page)).toBe('Next')
    expect(await page.getByRole('status').count()).toBe(1)
  })
})

const REACT = `
import { createElement } from 'react'
import { flushSync } from 'react-dom'
import { hydrateRoot } from 'react-dom/client'
import { announcePage } from './src/client/core/page/page-focus.ts'
const view = (name) =>
  createElement('html', { lang: 'en' },
    createElement('head', null, createElement('title', null, name)),
    createElement('body', null, createElement('main', { key: name }, createElement('h1', null, name))))
const root = hydrateRoot(document, view('First'))
Object.assign(window, {
  show(name) {
    flushSync(() => root.render(view(name)))
    announcePage(document)
  },
})
`

moduleTest('React, which owns the document, leaves what is announced in it', async ({ open }) => {
  const head = createElement('head', null, createElement('title', null, 'First'))
  const body = createElement('body', null, createElement('main', null, createElement('h1', null, 'First')))
  const html = renderToString(createElement('html', { lang: 'en' }, head, body))
  const site = await serveModule({ script: REACT, pages: { '*': html } })
  const page = await open({ allow: [/favicon/] })
  await page.goto(`${site.origin}/`)
  await until(page, `'show' in window`)
  for (const name of ['Second', 'Third']) {
    await page.evaluate(`show('${name}')`)
    await expect.poll(() => spoken(page)).toBe(name)
    expect(await page.evaluate('document.activeElement.textContent')).toBe(name)
    expect(await page.getByRole('heading').allTextContents()).toEqual([name])
    expect(await page.getByRole('status').count()).toBe(1)
  }
})
