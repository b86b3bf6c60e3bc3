import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { moduleTest, serveModule, until } from '../support/module-page.ts'

const SCRIPT = `
import { createHistoryStack } from './src/client/core/navigation/history-stack.ts'
const stack = createHistoryStack(window, () => crypto.randomUUID())
const heard = []
stack.listen(
  ({ href, entry, delta }) => heard.push(href + ' ' + entry.index + ' ' + delta),
  (href) => heard.push('fragment ' + href),
)
Object.assign(window, { stack, heard })
`

const BODY = `
<p><a href="#x">to x</a></p>
<p id="x">x</p>
<div style="height: 3000px"></div>
`

/** With and without the browser's help in noticing entries that others make. */
const BROWSERS = [
  { name: 'with the Navigation API', api: true },
  { name: 'without the Navigation API', api: false },
] as const

async function openStack(open: OpenPage, api = true): Promise<Page> {
  const site = await serveModule({ script: SCRIPT, pages: { '*': BODY } })
  const page = await open()
  if (!api) await page.addInitScript(`Object.defineProperty(window, 'navigation', { value: undefined })`)
  await page.goto(`${site.origin}/start`)
  await ready(page)
  return page
}

async function ready(page: Page): Promise<void> {
  await until(page, `'stack' in window`)
}

/** Moves in the history as the browser's buttons do, and waits until the page has heard of it. */
async function move(page: Page, delta: number): Promise<void> {
  await page.evaluate(`new Promise((moved) => {
    addEventListener('popstate', () => moved(), { once: true })
    history.go(${delta})
  })`)
}

/** Where the address bar is, and what the stack says of it. */
function place(page: Page): Promise<string> {
  return page.evaluate(`location.pathname + location.hash + ' ' + stack.current.index`)
}

function heard(page: Page): Promise<string[]> {
  return page.evaluate('heard.splice(0)')
}

describe.for(BROWSERS)('history, $name', ({ api }) => {
  moduleTest('back, forward and longer ways tell where they lead and how far', async ({ open }) => {
    const page = await openStack(open, api)
    await page.evaluate(`for (const path of ['/a', '/b', '/c?q=1#x']) stack.push(path)`)
    expect(await place(page)).toBe('/c#x 3')
    expect(await heard(page)).toEqual([])
    await move(page, -1)
    await move(page, -2)
    await move(page, 3)
    expect(await heard(page)).toEqual(['/b 2 -1', '/start 0 -2', '/c?q=1#x 3 3'])
  })

  moduleTest('a replaced entry keeps its place and is another one', async ({ open }) => {
    const page = await openStack(open, api)
    const key = await page.evaluate(`stack.push('/a').key`)
    await page.evaluate(`stack.replace('/b')`)
    expect(await place(page)).toBe('/b 1')
    expect(await page.evaluate('stack.current.key')).not.toBe(key)
    await move(page, -1)
    expect(await heard(page)).toEqual(['/start 0 -1'])
  })

  moduleTest(
    'an entry keeps its key and its place over a reload, with what the application keeps there',
    async ({ open }) => {
      const page = await openStack(open, api)
      await page.evaluate(`stack.push('/a')`)
      await page.evaluate(`history.replaceState({ ...history.state, own: 7 }, '')`)
      const before = await page.evaluate('JSON.stringify(stack.current)')
      await page.reload()
      await ready(page)
      expect(await page.evaluate('JSON.stringify(stack.current)')).toBe(before)
      expect(await page.evaluate('history.state.own')).toBe(7)
      await move(page, -1)
      expect(await heard(page)).toEqual(['/start 0 -1'])
    },
  )

  moduleTest('a traversal that is reverted leaves no trace', async ({ open }) => {
    const page = await openStack(open, api)
    await page.evaluate(`for (const path of ['/a', '/b', '/c']) stack.push(path)`)
    await page.evaluate(`new Promise((reverted) => {
      stack.listen((traversal) => stack.revert(traversal).then(reverted))
      history.go(-2)
    })`)
    expect(await place(page)).toBe('/c 3')
    await page.evaluate(`stack.listen(({ href, entry, delta }) => heard.push(href + ' ' + entry.index + ' ' + delta))`)
    await move(page, -1)
    expect(await heard(page)).toEqual(['/b 2 -1'])
    await move(page, 1)
    expect(await heard(page)).toEqual(['/c 3 1'])
  })

  moduleTest(
    'back is pressed again while the first back is being reverted: it still ends where it began',
    async ({ open }) => {
      const page = await openStack(open, api)
      await page.evaluate(`for (const path of ['/a', '/b', '/c']) stack.push(path)`)
      const told = await page.evaluate(`new Promise((reverted) => {
      let told = 0
      stack.listen((traversal) => {
        told += 1
        history.back()
        stack.revert(traversal).then(() => reverted(told))
      })
      history.back()
    })`)
      expect(told).toBe(1)
      expect(await place(page)).toBe('/c 3')
    },
  )

  moduleTest('a navigation while a traversal is being reverted ends the waiting', async ({ open }) => {
    const page = await openStack(open, api)
    await page.evaluate(`stack.push('/a')`)
    await page.evaluate(`new Promise((reverted) => {
      stack.listen((traversal) => {
        stack.revert(traversal).then(reverted)
        stack.push('/b')
      })
      history.back()
    })`)
    expect(await place(page)).toBe('/b 1')
  })

  moduleTest('a fragment that is clicked is an entry of its own, and no traversal', async ({ open }) => {
    const page = await openStack(open, api)
    await page.evaluate(`stack.push('/a')`)
    await page.getByText('to x').click()
    await until(page, 'heard.length > 0')
    expect(await heard(page)).toEqual(['fragment /a#x'])
    expect(await place(page)).toBe('/a#x 2')
    await move(page, -1)
    expect(await heard(page)).toEqual(['/a 1 -1'])
    await move(page, 1)
    expect(await heard(page)).toEqual(['/a#x 2 1'])
  })

  moduleTest('where a visitor was is still known when a fragment is heard of', async ({ open }) => {
    const page = await openStack(open, api)
    await page.evaluate(`scrollTo(0, 5); stack.listen(() => {}, () => heard.push(scrollY))`)
    await page.evaluate(`document.querySelector('a').click()`)
    await until(page, 'scrollY !== 5')
    expect(await heard(page)).toEqual([5])
  })

  moduleTest('a fragment that is clicked twice is one entry', async ({ open }) => {
    const page = await openStack(open, api)
    const key = await page.evaluate(`new Promise((moved) => {
      addEventListener('popstate', () => moved(stack.current.key), { once: true })
      document.querySelector('a').click()
    })`)
    expect(await place(page)).toBe('/start#x 1')
    await page.getByText('to x').click()
    await until(page, 'heard.length === 2')
    expect(await place(page)).toBe('/start#x 1')
    expect(await page.evaluate('stack.current.key')).toBe(key)
    expect(await page.evaluate('history.state.millrace.index')).toBe(1)
    await heard(page)
    await move(page, -1)
    expect(await heard(page)).toEqual(['/start 0 -1'])
  })

  moduleTest('an entry that another script has made is taken in, and keeps what it had', async ({ open }) => {
    const page = await openStack(open, api)
    await page.evaluate(`stack.push('/a')`)
    await page.evaluate(`history.pushState({ other: 1 }, '', '/other')`)
    expect(await place(page)).toBe('/other 2')
    expect(await page.evaluate('history.state.other')).toBe(1)
    await page.evaluate(`stack.push('/b')`)
    expect(await place(page)).toBe('/b 3')
    await move(page, -2)
    expect(await heard(page)).toEqual(['/a 1 -2'])
    await move(page, 1)
    expect(await heard(page)).toEqual(['/other 2 1'])
  })

  moduleTest('a state that another script has put in the place of ours does not move the entry', async ({ open }) => {
    const page = await openStack(open, api)
    const key = await page.evaluate(`stack.push('/a').key`)
    await page.evaluate(`history.replaceState({ other: 1 }, '')`)
    expect(await place(page)).toBe('/a 1')
    expect(await page.evaluate('stack.current.key')).toBe(key)
    expect(await page.evaluate('history.state.other')).toBe(1)
  })

  moduleTest(
    'the way back from an entry that another script has made is back, though nobody looked at it',
    async ({ open }) => {
      const page = await openStack(open, api)
      await page.evaluate(`stack.push('/a')`)
      await page.evaluate(`history.pushState(null, '', '/other')`)
      await move(page, -1)
      expect(await heard(page)).toEqual(['/a 1 -1'])
      await move(page, 1)
      expect(await heard(page)).toEqual(['/other 2 1'])
    },
  )
})

describe('scrolling', () => {
  moduleTest(
    'is the router’s while the page is there, and the browser’s own when it is loaded again',
    async ({ open }) => {
      const page = await openStack(open)
      expect(await page.evaluate('stack.restoresScroll')).toBe(true)
      await until(page, `history.scrollRestoration === 'manual'`)
      await page.evaluate(`stack.push('/a')`)
      await page.evaluate('scrollTo(0, 700)')
      await page.reload()
      await ready(page)
      expect(await page.evaluate('stack.restoresScroll')).toBe(true)
      await until(page, 'scrollY === 700')
      await until(page, `history.scrollRestoration === 'manual'`)
      expect(await page.evaluate('scrollY')).toBe(700)
    },
  )

  moduleTest(
    'is the browser’s until a page that it has kept is shown again: Safari restores it after it has said so',
    async ({ open }) => {
      const page = await openStack(open)
      await until(page, `history.scrollRestoration === 'manual'`)
      const after = await page.evaluate(`(() => {
      for (const type of ['pagehide', 'pageshow']) dispatchEvent(new PageTransitionEvent(type, { persisted: true }))
      return history.scrollRestoration
    })()`)
      expect(after).toBe('auto')
      await until(page, `history.scrollRestoration === 'manual'`)
    },
  )

  moduleTest('is the browser’s until a document that is still coming in is there as a whole', async ({ open }) => {
    const rests: (() => void)[] = []
    const site = await serveModule({
      script: SCRIPT,
      pages: {},
      answer(request, response) {
        if (request.url !== '/stream') return false
        response.setHeader('Content-Type', 'text/html')
        response.write('<!doctype html><link rel="icon" href="data:,"><body><p>start</p>')
        response.write('<script type="module" async src="/m/stdin.js"></script>')
        rests.push(() => response.end(BODY))
        return true
      },
    })
    const page = await open()
    const opened = page.goto(`${site.origin}/stream`)
    await expect.poll(() => rests.length).toBe(1)
    rests[0]?.()
    await opened
    await page.evaluate('scrollTo(0, 700)')
    await page.reload({ waitUntil: 'commit' })
    await ready(page)
    // What there is has been drawn, in its whole height.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    expect(await page.evaluate('document.readyState')).toBe('loading')
    rests[1]?.()
    await until(page, `document.readyState === 'complete' && history.scrollRestoration === 'manual'`)
    expect(await page.evaluate('scrollY')).toBe(700)
  })

  moduleTest('is not the browser’s for an entry that was left by the router and is loaded again', async ({ open }) => {
    const page = await openStack(open)
    await until(page, `history.scrollRestoration === 'manual'`)
    await page.evaluate(`stack.push('/a')`)
    const { origin } = new URL(page.url())
    await page.goto(`${origin}/elsewhere`)
    await ready(page)
    await page.evaluate('void setTimeout(() => history.go(-2))') // answered before this document is left
    await page.waitForURL(`${origin}/start`)
    await ready(page)
    expect(await page.evaluate('stack.restoresScroll')).toBe(false)
  })
})
