import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { savesData } from '../../src/client/core/prefetch/link-prefetch.ts'
import type { OpenPage } from '../support/browser.ts'
import { moduleTest, serveModule, until } from '../support/module-page.ts'

const SCRIPT = `
import { clickTarget, listenToClicks } from './src/client/core/prefetch/link-clicks.ts'
import { watchLinks } from './src/client/core/prefetch/link-prefetch.ts'
const told = []
const turned = []
const tell = (what) => (url, more) => told.push(what + ' ' + url.pathname + url.search + url.hash + (typeof more === 'string' ? ' ' + more : ''))
const options = { document, window, intent: tell('intent'), turned: ({ target }) => turned.push(target.localName), visible: tell('visible'), hidden: (urls) => urls.forEach(tell('hidden')), allowed: () => !window.saving }
const watch = watchLinks(options)
listenToClicks(window, (event) => {
  const target = clickTarget(event, location)
  if (target && !target.isWithin) event.preventDefault()
  told.push('click ' + (target?.isWithin ? 'within the page' : target?.url.pathname ?? 'left to the browser'))
})
Object.assign(window, { watch, told, turned })
`

/** Counts what is made and listened to before the page's own script runs. */
const COUNTING = `
window.made = { IntersectionObserver: 0, MutationObserver: 0, listeners: 0 }
for (const name of ['IntersectionObserver', 'MutationObserver']) {
  const Native = window[name]
  window[name] = class extends Native {
    constructor(...args) {
      super(...args)
      made[name] += 1
    }
  }
}
const add = EventTarget.prototype.addEventListener
EventTarget.prototype.addEventListener = function (...args) {
  made.listeners += 1
  return add.apply(this, args)
}
`

const STYLE = `<style>a { display: block; height: 40px; width: 200px } .far { height: 3000px } .row a { display: inline-block }</style>`

async function openLinks(open: OpenPage, body: string, clock = false): Promise<Page> {
  const site = await serveModule({ script: SCRIPT, pages: { '*': STYLE + body } })
  const page = await open()
  await page.addInitScript(COUNTING)
  if (clock) await page.clock.install()
  await page.goto(`${site.origin}/here`)
  await until(page, `'watch' in window`)
  return page
}

function told(page: Page): Promise<string[]> {
  return page.evaluate('told.splice(0)')
}

/** Scrolls, and waits until observers of the view have been told. */
async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate(`new Promise((seen) => {
    scrollTo({ top: ${top}, behavior: 'instant' })
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(seen)))
  })`)
}

describe('links in view', () => {
  moduleTest('a thousand of them need one observer of each kind and no listeners of their own', async ({ open }) => {
    const links = Array.from({ length: 1000 }, (_, index) => `<a href="/item/${index}">item ${index}</a>`)
    const page = await openLinks(open, `<div data-prefetch="viewport">${links.join('')}</div>`)
    await until(page, 'told.length > 0')
    const seen = await told(page)
    expect(seen.length).toBeGreaterThan(5)
    expect(seen.length).toBeLessThan(40)
    expect(seen[0]).toBe('visible /item/0 viewport')
    await scrollTo(page, 20_000)
    await until(page, 'told.length > 0')
    expect(await page.evaluate('made')).toMatchObject({ IntersectionObserver: 1, MutationObserver: 1 })
    expect(await page.evaluate('made.listeners')).toBeLessThan(10)
  })

  moduleTest('are told when they come into view and when they leave it, and no others are', async ({ open }) => {
    const page = await openLinks(
      open,
      `<a href="/plain">no wish</a>
       <a href="/own" data-prefetch="viewport">own wish</a>
       <nav data-prefetch="viewport"><a href="/scope?a=1#x">of a scope</a>
         <a href="/none" data-prefetch="none">none</a><a href="/intent" data-prefetch="intent">intent</a>
         <a href="https://there.test/">elsewhere</a><a href="/file" download>file</a><a href="/tab" target="_blank">tab</a>
         <a href="/ext" rel="external">external</a><a href="mailto:a@b.test">mail</a><a>no target</a></nav>
       <div class="far"></div><a href="/below" data-prefetch="viewport">below</a><div class="far"></div>`,
    )
    await page.evaluate('watch.scan()')
    await until(page, 'told.length > 1')
    expect(await told(page)).toEqual(['visible /own viewport', 'visible /scope?a=1 viewport'])
    await scrollTo(page, 3200)
    await until(page, 'told.length > 2')
    expect((await told(page)).toSorted()).toEqual(['hidden /own', 'hidden /scope?a=1', 'visible /below viewport'])
  })

  moduleTest('that lead to one URL are one: it is hidden when the last of them is', async ({ open }) => {
    const far = '<div class="far"></div>'
    const link = (hash: string) => `<a href="/same${hash}" data-prefetch="viewport">same</a>`
    const page = await openLinks(open, `${link('')}<div style="height: 400px"></div>${link('#part')}${far}${far}`)
    await page.evaluate('watch.scan()')
    await until(page, 'told.length > 0')
    await scrollTo(page, 100)
    expect(await told(page)).toEqual(['visible /same viewport'])
    await scrollTo(page, 2000)
    await until(page, 'told.length > 0')
    expect(await told(page)).toEqual(['hidden /same'])
  })

  moduleTest('one may come while another to the same URL goes: nothing has changed', async ({ open }) => {
    const page = await openLinks(open, `<main><a href="/same" data-prefetch="render">same</a></main>`)
    await page.evaluate('watch.scan()')
    expect(await told(page)).toEqual(['visible /same render'])
    await page.evaluate(
      `document.querySelector('main').innerHTML = '<a href="/same" data-prefetch="render">new</a>'; watch.scan()`,
    )
    expect(await told(page)).toEqual([])
    await page.evaluate(`document.querySelector('a').remove(); watch.scan()`)
    expect(await told(page)).toEqual(['hidden /same'])
  })

  moduleTest('that are added, changed or removed later are noticed without being asked for', async ({ open }) => {
    const page = await openLinks(open, `<main></main>`)
    const main = `document.querySelector('main')`
    await page.evaluate(`${main}.innerHTML = '<p><a href="/late" data-prefetch="viewport">late</a></p>'`)
    await until(page, 'told.length > 0')
    expect(await told(page)).toEqual(['visible /late viewport'])
    await page.evaluate(`document.querySelector('a').setAttribute('href', '/other')`)
    await until(page, 'told.length > 1')
    expect(await told(page)).toEqual(['hidden /late', 'visible /other viewport'])
    await page.evaluate(`${main}.innerHTML = ''`)
    await until(page, 'told.length > 0')
    expect(await told(page)).toEqual(['hidden /other'])
  })

  moduleTest('are not looked for again when only the head has changed', async ({ open }) => {
    const page = await openLinks(open, `<a href="/same" data-prefetch="render">same</a>`)
    await page.evaluate('watch.scan()')
    // A scan looks for scopes; a mere report of what is in view, which may still be on its way, does not.
    await page.evaluate(`window.looks = 0
      document.querySelector = (selector) => {
        if (selector.includes('data-prefetch')) looks += 1
        return Document.prototype.querySelector.call(document, selector)
      }
      document.head.append(document.createElement('link'))`)
    const idle = `new Promise((idle) => setTimeout(() => requestIdleCallback(() => requestIdleCallback(idle))))`
    await page.evaluate(idle)
    expect(await page.evaluate('looks')).toBe(0)
    await page.evaluate(`document.body.append(document.createElement('p'))`)
    await page.evaluate(idle)
    expect(await page.evaluate('looks')).toBeGreaterThan(0)
  })

  moduleTest('are told at once where they ask for it, wherever they are', async ({ open }) => {
    const page = await openLinks(open, `<div class="far"></div><a href="/deep" data-prefetch="render">deep</a>`)
    await page.evaluate('watch.scan()')
    expect(await told(page)).toEqual(['visible /deep render'])
  })

  moduleTest('are nobody’s business when data is to be saved, and what was under way ends', async ({ open }) => {
    const page = await openLinks(
      open,
      `<a href="/a" data-prefetch="viewport">a</a><a href="/b" data-prefetch="render">b</a>`,
    )
    await page.evaluate('watch.scan()')
    await until(page, 'told.length > 1')
    await told(page)
    await page.evaluate('window.saving = true; watch.scan()')
    expect(await told(page)).toEqual(['hidden /b', 'hidden /a'])
    await page.focus('a')
    expect(await told(page)).toEqual(['intent /a'])
  })
})

describe('a visitor is about to follow a link', () => {
  const LINKS = `<div class="row"><a href="/one">one</a><a href="/two"><b>two</b></a></div><a href="/none" data-prefetch="none">none</a>
    <a href="/eager" data-prefetch="viewport">eager</a><a href="https://there.test/">elsewhere</a><p>text</p>`

  moduleTest('when the mouse rests on it for 50 ms, and not when it crosses it', async ({ open }) => {
    const page = await openLinks(open, LINKS.replace('viewport', 'intent'), true)
    await page.clock.pauseAt(Date.now() + 60_000)
    await told(page)
    await page.hover('[href="/one"]')
    await page.clock.runFor(40)
    await page.hover('[href="/two"] b')
    await page.clock.runFor(49)
    await page.hover('[href="/two"]', { position: { x: 150, y: 5 } })
    expect(await told(page)).toEqual([])
    await page.clock.runFor(1)
    expect(await told(page)).toEqual(['intent /two'])
    await page.hover('[href="/one"]')
    await page.hover('p')
    await page.clock.runFor(1000)
    expect(await told(page)).toEqual([])
  })

  moduleTest('when the focus is on it, the mouse button goes down, or a finger', async ({ open }) => {
    const page = await openLinks(open, LINKS)
    await page.evaluate('watch.scan()')
    await until(page, 'told.length > 0')
    await told(page)
    await page.focus('[href="/one"]')
    expect(await told(page)).toEqual(['intent /one'])
    await page.dispatchEvent('[href="/two"] b', 'pointerdown', { pointerType: 'touch' })
    await page.dispatchEvent('[href="/eager"]', 'touchstart')
    expect(await told(page)).toEqual(['intent /two', 'intent /eager'])
    for (const href of ['/none', 'https://there.test/']) {
      await page.focus(`[href="${href}"]`)
      await page.dispatchEvent(`[href="${href}"]`, 'touchstart')
    }
    expect(await told(page)).toEqual([])
  })

  moduleTest('or turns to something else: the same listeners tell of it, be it a link or not', async ({ open }) => {
    const page = await openLinks(open, `<form><input><button type="button"><i>go</i></button></form>`)
    await page.focus('input')
    await page.dispatchEvent('i', 'pointerdown', { pointerType: 'touch' })
    await page.dispatchEvent('button', 'touchstart')
    expect(await page.evaluate('turned')).toEqual(['input', 'i', 'button'])
    expect(await told(page)).toEqual([])
  })

  moduleTest('inside of a shadow tree too, and the click is the application’s', async ({ open }) => {
    const page = await openLinks(open, `<div id="host"></div>`)
    await page.evaluate(`host.attachShadow({ mode: 'open' }).innerHTML = '<a href="/shadow"><b>shadow</b></a>'`)
    await page.click('b')
    // As often as the pointer has said so.
    expect(new Set(await told(page))).toEqual(new Set(['intent /shadow', 'click /shadow']))

    // A card or a dialog keeps clicks to itself, by a listener of its own or by one of React's.
    await page.evaluate(`host.addEventListener('click', (event) => event.stopPropagation())`)
    const clicked = async (): Promise<string[]> => {
      await page.dispatchEvent('b', 'click', { button: 0 })
      return (await told(page)).filter((what) => what.startsWith('click'))
    }
    expect(await clicked()).toEqual(['click /shadow'])
    await page.evaluate(`host.addEventListener('click', (event) => event.preventDefault())`)
    expect(await clicked()).toEqual(['click left to the browser'])
  })
})

moduleTest(
  'clicks on fragments stay within the page, those in edited text are the browser’s, and in drawings not',
  async ({ open }) => {
    const page = await openLinks(
      open,
      `<svg width="50" height="50">
       <a href="/svg"><rect width="50" height="50"></rect></a>
       <a href="/tab" target="_blank"><circle></circle></a><a href="https://a:b"><path></path></a>
     </svg>
     <a href="#part">part</a><p id="part" contenteditable><a href="/edited">edited</a></p>
     <area href="/area"><a href="/page?x#y"><i>page</i></a>`,
    )
    // Behind the last listener, which it would lead astray.
    await page.evaluate(`
    addEventListener('click', () => addEventListener('click', (event) => event.preventDefault(), { once: true }), true)
  `)
    for (const selector of ['circle', 'path', '[href="/edited"]']) {
      await page.dispatchEvent(selector, 'click', { button: 0 })
      expect(await told(page)).toEqual(['click left to the browser'])
    }
    await page.dispatchEvent('[href="#part"]', 'click', { button: 0 })
    expect(await told(page)).toEqual(['click within the page'])
    await page.dispatchEvent('i', 'click', { button: 0 })
    expect(await told(page)).toEqual(['click /page'])
    await page.dispatchEvent('rect', 'click', { button: 0 })
    expect(await told(page)).toEqual(['click /svg'])
    await page.hover('rect')
    await until(page, 'told.length > 0')
    expect(await told(page)).toEqual(['intent /svg'])
  },
)

test.for([
  [undefined, false],
  [{}, false],
  [{ saveData: false, effectiveType: '4g' }, false],
  [{ effectiveType: '3g' }, false],
  [{ effectiveType: '2g' }, true],
  [{ effectiveType: 'slow-2g' }, true],
  [{ saveData: true, effectiveType: '4g' }, true],
] as const)('a connection like %j asks to save data: %s', ([connection, saves]) => {
  expect(savesData({ connection } as unknown as Navigator)).toBe(saves)
})
