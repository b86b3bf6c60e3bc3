import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenPage } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { moduleTest, NONCE, serveModule, until, type ModuleSite } from '../support/module-page.ts'

const SCRIPT = `
import { preloadScripts } from './src/client/core/page/load-scripts.ts'
import { swapStylesheets } from './src/client/dev/stylesheets.ts'
import { createStylesheets } from './src/client/core/page/load-styles.ts'
const styles = createStylesheets(document)
const name = (link) => /\\/(\\w+)\\.css/.exec(link.href)[1]
Object.assign(window, {
  preloadScripts,
  swapStylesheets,
  styles,
  css: (text) => [...text].map((name) => '/' + name + '.css'),
  load: (text) => styles.load(css(text)).then(() => 'loaded', (error) => String(error)),
  sheets: () => [...document.querySelectorAll('link[rel=stylesheet]')].map(name).join(''),
  applied: () => [...document.querySelectorAll('link[rel=stylesheet]')].filter((link) => link.media === '').map(name).join(''),
  colour: () => getComputedStyle(document.querySelector('p')).color,
})
`

const COLOURS = {
  e: 'rgb(1, 1, 1)',
  a: 'rgb(10, 0, 0)',
  b: 'rgb(0, 20, 0)',
  c: 'rgb(0, 0, 30)',
  d: 'rgb(40, 40, 40)',
} as const

const FILES = Object.fromEntries(
  Object.entries(COLOURS).map(([name, colour]) => [`/${name}.css`, `p { color: ${colour} }`]),
)

/** The stylesheets of a document as the server writes them: `e` is the document's own, `a` and `b` are its view's. */
const HEAD = ['e', 'a', 'b']
  .map((name) => `<link rel="stylesheet" href="/${name}.css" data-precedence="route">`)
  .join('')

const IS_ROUTES = `(path) => path !== '/e.css'`

interface StyledPage {
  readonly page: Page
  readonly site: ModuleSite
  /** Answers that wait to be sent, by path. */
  readonly held: ReadonlyMap<string, ServerResponse>
}

async function openStyled(
  open: OpenPage,
  { head = HEAD, hold = [], allow = [] }: { head?: string; hold?: readonly string[]; allow?: readonly RegExp[] } = {},
): Promise<StyledPage> {
  const held = new Map<string, ServerResponse>()
  const site = await serveModule({
    script: SCRIPT,
    pages: { '/': `<p>text</p><script type="module" src="/there.js" nonce="${NONCE}"></script>` },
    head,
    files: { ...FILES, '/there.js': '', '/one.js': 'window.ran = true', '/two.js': '' },
    answer(request, response) {
      const url = request.url ?? ''
      if (!hold.includes(url) || held.has(url)) return false
      held.set(url, response)
      return true
    },
  })
  const page = await open({ allow })
  await page.goto(`${site.origin}/`, { waitUntil: 'domcontentloaded' })
  await until(page, `'styles' in window`)
  return { page, site, held }
}

function state(page: Page): Promise<string[]> {
  return page.evaluate('[sheets(), applied(), colour()]')
}

function send(response: ServerResponse | undefined, text: string): void {
  response?.setHeader('Content-Type', 'text/css')
  response?.end(text)
}

describe('stylesheets of the next page', () => {
  moduleTest('are loaded without any effect on the page on screen, and apply when it is shown', async ({ open }) => {
    const { page } = await openStyled(open)
    expect(await state(page)).toEqual(['eab', 'eab', COLOURS.b])
    expect(await page.evaluate(`load('ac')`)).toBe('loaded')
    expect(await state(page)).toEqual(['eacb', 'eab', COLOURS.b])
    await page.evaluate(`styles.show(css('ac'), ${IS_ROUTES})`)
    expect(await state(page)).toEqual(['eacb', 'eac', COLOURS.c])
  })

  moduleTest('are not fetched again on the way back', async ({ open }) => {
    const { page, site } = await openStyled(open)
    for (const view of ['cd', 'ab', 'cd', 'ab']) {
      await page.evaluate(`load('${view}').then(() => styles.show(css('${view}'), ${IS_ROUTES}))`)
      expect((await state(page)).slice(1)).toEqual([`e${view}`, view === 'ab' ? COLOURS.b : COLOURS.d])
    }
    expect(site.requests.filter((url) => url.endsWith('.css')).toSorted()).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => `/${name}.css`),
    )
  })

  moduleTest('of the document are switched off only where they are known to be a route’s', async ({ open }) => {
    const { page } = await openStyled(open)
    await page.evaluate(`load('c').then(() => styles.show(css('c')))`)
    expect((await state(page)).slice(1)).toEqual(['eabc', COLOURS.c])
    await page.evaluate(`styles.show([])`)
    expect((await state(page)).slice(1)).toEqual(['eab', COLOURS.b])
    await page.evaluate(`styles.show([], ${IS_ROUTES})`)
    expect((await state(page)).slice(1)).toEqual(['e', COLOURS.e])
  })

  moduleTest.for([
    ['before all that must come later', 'cab', 'ecab'],
    ['between two', 'acb', 'eacb'],
    ['behind all', 'abc', 'eabc'],
    ['several at once', 'cadbe', 'ecadbe'],
  ] as const)('are put where the cascade needs them: %s', async ([, view, order], { open }) => {
    const head = HEAD.replace('e.css', 'x.css')
    const { page } = await openStyled(open, { head, allow: [statusComplaint(404)] })
    await page.evaluate(`load('${view}')`)
    expect((await state(page))[0]).toBe(order.replace('e', 'x'))
  })

  moduleTest('that two views need in different orders apply in the order of each', async ({ open }) => {
    const { page, site } = await openStyled(open)
    for (const view of ['ab', 'ba', 'ab', 'cba', 'bca']) {
      await page.evaluate(`load('${view}').then(() => styles.show(css('${view}'), ${IS_ROUTES}))`)
      expect((await state(page)).slice(1)).toEqual([`e${view}`, COLOURS[view.at(-1) as 'a']])
    }
    // Not more and more of them, however often.
    const before = await page.evaluate('sheets()')
    for (const view of ['ab', 'ba', 'cba', 'bca', 'ab']) {
      await page.evaluate(`load('${view}').then(() => styles.show(css('${view}'), ${IS_ROUTES}))`)
      expect((await state(page)).slice(1)).toEqual([`e${view}`, COLOURS[view.at(-1) as 'a']])
    }
    expect(await page.evaluate('sheets()')).toBe(before)
    expect(site.requests.filter((url) => url === '/c.css')).toHaveLength(1)
  })

  moduleTest('are fetched for a click before what is fetched ahead', async ({ open }) => {
    const { page } = await openStyled(open)
    const network = await page.context().newCDPSession(page)
    const priorities = new Map<string, string>()
    network.on('Network.requestWillBeSent', ({ request }) => {
      priorities.set(new URL(request.url).pathname, request.initialPriority)
    })
    await network.send('Network.enable')
    await page.evaluate(`styles.preload(css('d')); load('dc')`)
    await expect.poll(() => priorities.size).toBe(2)
    const ranks = ['VeryLow', 'Low', 'Medium', 'High', 'VeryHigh']
    const [ahead = -1, clicked = -1] = ['/d.css', '/c.css'].map((path) => ranks.indexOf(priorities.get(path) ?? ''))
    expect(ahead).toBe(0)
    expect(clicked).toBeGreaterThan(ahead)
  })

  moduleTest('that are on their way are waited for, not asked for again', async ({ open }) => {
    const { page, site, held } = await openStyled(open, { hold: ['/c.css'] })
    await page.evaluate(`styles.preload(css('c')); window.first = load('c'); window.second = load('c'); undefined`)
    await expect.poll(() => held.size).toBe(1)
    expect(await page.evaluate(`Promise.race([first, 'waiting'])`)).toBe('waiting')
    send(held.get('/c.css'), 'p { color: rgb(5, 5, 5) }')
    expect(await page.evaluate('Promise.all([first, second])')).toEqual(['loaded', 'loaded'])
    await page.evaluate(`styles.show(css('c'), ${IS_ROUTES})`)
    expect((await state(page))[2]).toBe('rgb(5, 5, 5)')
    expect(site.requests.filter((url) => url === '/c.css')).toHaveLength(1)
  })

  moduleTest('of the document itself are waited for as well', async ({ open }) => {
    // Not render-blocking here, or nothing would run before it has come.
    const head = HEAD.replace('href="/b.css"', 'href="/b.css" media="print"')
    const { page, held } = await openStyled(open, { head, hold: ['/b.css'] })
    await expect.poll(() => held.size).toBe(1)
    await page.evaluate(`window.loading = load('ab'); undefined`)
    expect(await page.evaluate(`Promise.race([loading, 'waiting'])`)).toBe('waiting')
    send(held.get('/b.css'), '')
    expect(await page.evaluate('loading')).toBe('loaded')
  })

  moduleTest('that do not come are named, and asked for again the next time', async ({ open }) => {
    const { page, held } = await openStyled(open, { hold: ['/c.css'], allow: [statusComplaint(404)] })
    await page.evaluate(`window.loading = load('ac'); undefined`)
    await expect.poll(() => held.size).toBe(1)
    held.get('/c.css')?.writeHead(404).end()
    expect(await page.evaluate('loading')).toBe('RouteLoadError: Failed to load stylesheet: /c.css')
    expect((await state(page))[0]).toBe('eab')
    expect(await page.evaluate(`load('ac')`)).toBe('loaded')
    expect((await state(page))[0]).toBe('eacb')
  })

  moduleTest('that failed with the document are asked for again', async ({ open }) => {
    const { page, held } = await openStyled(open, {
      hold: ['/b.css'],
      allow: [statusComplaint(404)],
      head: HEAD.replace('href="/b.css"', 'href="/b.css" media="print"'),
    })
    await expect.poll(() => held.size).toBe(1)
    held.get('/b.css')?.writeHead(404).end()
    await until(page, `document.readyState === 'complete'`)
    expect(await page.evaluate(`load('ab')`)).toBe('loaded')
    await page.evaluate(`styles.show(css('ab'), ${IS_ROUTES})`)
    expect(await state(page)).toEqual(['eab', 'eab', COLOURS.b])
  })

  moduleTest('are known after the development server has replaced them', async ({ open }) => {
    const { page, site } = await openStyled(open)
    await page.evaluate(`load('ac').then(() => styles.show(css('ac'), ${IS_ROUTES}))`)
    await page.evaluate(`swapStylesheets(document, ['/c.css'], '1')`)
    await expect.poll(() => page.evaluate(`document.querySelectorAll('link[href*="c.css"]').length`)).toBe(1)
    await page.evaluate(`load('ac').then(() => styles.show(css('ac'), ${IS_ROUTES}))`)
    expect((await state(page)).slice(1)).toEqual(['eac', COLOURS.c])
    await page.evaluate(`styles.show(css('ab'), ${IS_ROUTES})`)
    expect((await state(page)).slice(1)).toEqual(['eab', COLOURS.b])
    expect(site.requests.filter((url) => url.startsWith('/c.css'))).toEqual(['/c.css', '/c.css?v=1'])
  })
})

moduleTest(
  'a page that is shown while the development server replaces its stylesheet gets the new one',
  async ({ open }) => {
    const { page, held } = await openStyled(open, { hold: ['/c.css?v=1'] })
    await page.evaluate(`load('ac').then(() => styles.show(css('ac'), ${IS_ROUTES}))`)
    await page.evaluate(`swapStylesheets(document, ['/c.css'], '1')`)
    await expect.poll(() => held.size).toBe(1)
    await page.evaluate(`window.loading = load('c'); undefined`)
    expect(await page.evaluate(`Promise.race([loading, 'waiting'])`)).toBe('waiting')
    await page.evaluate(`styles.show(css('c'), ${IS_ROUTES})`)
    expect((await state(page))[2]).toBe(COLOURS.c)
    send(held.get('/c.css?v=1'), 'p { color: rgb(5, 5, 5) }')
    expect(await page.evaluate('loading')).toBe('loaded')
    expect(await state(page)).toEqual(['eacb', 'ec', 'rgb(5, 5, 5)'])
  },
)

describe('scripts of the next page', () => {
  moduleTest(
    'are fetched once, by the nonce of the page, and do not run before they are imported',
    async ({ open }) => {
      const { page, site } = await openStyled(open)
      await page.evaluate(`
      preloadScripts(document, ['/one.js', '/two.js'], 'low')
      preloadScripts(document, ['/two.js', '/one.js', '/there.js'], 'high')
    `)
      const links = `[...document.querySelectorAll('link[rel=modulepreload]')]`
      expect(
        await page.evaluate(`${links}.map((link) => [link.getAttribute('href'), link.nonce, link.fetchPriority])`),
      ).toEqual([
        ['/one.js', NONCE, 'low'],
        ['/two.js', NONCE, 'low'],
      ])
      await expect
        .poll(() => site.requests.filter((url) => /one|two/.test(url)).toSorted())
        .toEqual(['/one.js', '/two.js'])
      expect(await page.evaluate(`'ran' in window`)).toBe(false)
    },
  )
})
