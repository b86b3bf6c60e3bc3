import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'

const MAIN_PAGES = [
  '/',
  '/docs',
  '/docs/routes',
  '/docs/actions',
  '/lab',
  '/lab/params/7',
  '/lab/source/guestbook',
  '/lab/crash/client',
  '/lab/stream?delay=0',
  '/lab/flaky/layout',
  '/lab/inspector',
] as const

/**
 * What of the page's text stands beside the viewport, where nobody can read or scroll to it. The page clips what is too
 * wide, so its scroll width alone tells nothing.
 */
const textBeside = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const scrolls = (element: Element | null): boolean =>
      element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const beside: string[] = []
    while (walker.nextNode()) {
      const range = document.createRange()
      range.selectNodeContents(walker.currentNode)
      const text = walker.currentNode.textContent?.trim() ?? ''
      const outside = [...range.getClientRects()].some(({ left, right }) => left < 0 || right > innerWidth + 1)
      if (text !== '' && outside && !scrolls(walker.currentNode.parentElement)) beside.push(text)
    }
    return beside
  })

describe.for([320, 390, 1280])('at %d pixels', (width) => {
  browserTest.for(MAIN_PAGES)('nothing of %s is cut off or has to be scrolled sideways', async (path, { open }) => {
    const page = await open({ context: { viewport: { width, height: 800 } } })
    await page.goto(path)
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, document.body.scrollWidth])
    expect(Math.max(...widths)).toBeLessThanOrEqual(width)
    expect(await textBeside(page)).toEqual([])
  })
})

browserTest.for(['/', '/lab', '/docs/actions'])(
  'with text of twice the size, nothing of %s has to be scrolled sideways on a phone',
  async (path, { open }) => {
    const page = await open({ context: { viewport: { width: 390, height: 800 } } })
    await page.goto(path)
    await page.evaluate(() => {
      const { style } = document.documentElement
      style.fontSize = `${2 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)}px`
    })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  },
)

browserTest.for([390, 1280])(
  'nothing of the inspector moves while its tables fill, at %d pixels',
  async (width, { open }) => {
    const page = await open({ context: { viewport: { width, height: 800 } } })
    await page.goto('/lab/inspector')
    await page.getByTestId('screen').waitFor()
    const shifts = await page.evaluate(async () => {
      const seen: number[] = []
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.push((entry as unknown as { readonly value: number }).value)
      })
      observer.observe({ type: 'layout-shift', buffered: true })
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      return seen
    })
    expect(Math.max(0, ...shifts)).toBeLessThan(0.01)
  },
)

describe('with colours of the system', () => {
  browserTest.for(['light', 'dark'] as const)(
    'what is chosen or marked can be told apart, %s',
    async (colorScheme, { open }) => {
      const page = await open({ context: { colorScheme, forcedColors: 'active' } })
      const border = (selector: string, side: 'Bottom' | 'Left') =>
        page
          .locator(selector)
          .evaluateAll((all, side) => new Set(all.map((one) => getComputedStyle(one)[`border${side}Color`])).size, side)
      await page.goto('/')
      expect(await border('main fieldset label', 'Bottom')).toBe(2)
      await page.goto('/docs/getting-started')
      expect(await border('.site-header nav a', 'Bottom')).toBe(2)
      expect(await border('nav[aria-label="Chapters"] a', 'Left')).toBe(2)
      const colours = await page
        .locator('.prose pre mark')
        .first()
        .evaluate((mark) => [mark, ...mark.querySelectorAll('span')].map((one) => getComputedStyle(one).color))
      const [paper, ink] = await page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.documentElement)
        return [backgroundColor, color]
      })
      expect(new Set(colours)).toEqual(new Set([ink]))
      expect(
        await page
          .locator('.prose pre mark')
          .first()
          .evaluate((mark) => getComputedStyle(mark).backgroundColor),
      ).toBe(paper)
    },
  )
})

describe.for(['light', 'dark'] as const)('in the %s scheme', (colorScheme) => {
  browserTest.for([
    '/',
    '/docs',
    '/docs/search?q=caches',
    '/lab',
    '/lab/params/7',
    '/lab/guestbook',
    '/lab/source/guestbook',
    '/lab/inspector',
  ])('nothing of %s shuts anybody out', async (path, { open }) => {
    const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    const page = await open({ context: { colorScheme } })
    await page.goto(path)
    await page.evaluate(source)
    const results = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    )
    expect(results.passes.length).toBeGreaterThan(10)
    const grave = results.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
  })
})

browserTest('the tables of the inspector use the width that the window has', async ({ open }) => {
  const page = await open({ context: { viewport: { width: 1280, height: 800 } } })
  await page.goto('/lab/inspector')
  await page.getByTestId('screen').waitFor()
  const cut = await page
    .locator('.millrace-inspector .scroll')
    .evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel))
  expect(cut).toEqual([])
})

browserTest.for(['/lab/not-found/late', '/lab/crash/late'])(
  'the footer of %s stays out of view on a phone when the fallback replaces the page',
  async (path, { open }) => {
    const allow = [
      /^console\.error: .*The server failed to provide this value/s,
      /^uncaught: (?:$|Minified React error #419;)/,
    ]
    const page = await open({ context: { viewport: { width: 390, height: 844 } }, allow })
    await page.addInitScript(() => {
      const moved: string[] = []
      Object.assign(window, { moved })
      new PerformanceObserver((list) => {
        for (const shift of list.getEntries() as (PerformanceEntry & { sources: { node: Element | null }[] })[]) {
          moved.push(...shift.sources.map(({ node }) => node?.className ?? ''))
        }
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto(path)
    await page.locator('.fallback').waitFor()
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    expect(await page.evaluate(() => (window as unknown as { moved: string[] }).moved)).not.toContain('site-footer')
  },
)

browserTest('all controls of a new application look alike', async ({ open }) => {
  const page = await open()
  const style = await readFile(new URL('../../templates/application/src/app/styles.css', import.meta.url), 'utf8')
  const controls = '<input><select></select><textarea></textarea><button></button>'
  await page.setContent(`<!doctype html><style>${style}</style>${controls}`)
  const looks = await page.evaluate(() =>
    [...document.body.children].map((control) => {
      const { fontFamily, fontSize, paddingTop } = getComputedStyle(control)
      return `${fontFamily} ${fontSize} ${paddingTop}`
    }),
  )
  expect(new Set(looks).size).toBe(1)
})
