import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { OpenOptions, OpenPage } from '../support/browser.ts'
import { moduleTest, serveModule, until } from '../support/module-page.ts'

const SCRIPT = `
import { createScrollPositions } from './src/client/core/page/scroll-positions.ts'
Object.assign(window, { positions: createScrollPositions(window, sessionStorage, () => 'here') })
`

const BODY = `
<style>
  html { scroll-behavior: smooth }
  #target, [name=old] { scroll-margin-top: 50px }
  [data-scroll] { width: 200px; height: 200px; overflow: auto; scroll-behavior: smooth }
</style>
<div data-scroll="list of &quot;things&quot;"><div id="things" style="height: 1000px; width: 900px"></div></div>
<div data-scroll=""><div style="height: 1000px"></div></div>
<div id="tall" style="height: 2000px"></div>
<p id="target">target</p>
<p id="with space">space</p>
<p id="100%">percent</p>
<a name="old">old</a>
<div id="rest" style="height: 2000px"></div>
`

const CONTAINER = `document.querySelector('[data-scroll]')`

async function openPositions(open: OpenPage, options: OpenOptions = {}, clock = false): Promise<Page> {
  const site = await serveModule({ script: SCRIPT, pages: { '*': BODY } })
  const page = await open(options)
  if (clock) await page.clock.install()
  await page.goto(`${site.origin}/`)
  await ready(page)
  return page
}

async function ready(page: Page): Promise<void> {
  await until(page, `'positions' in window`)
}

/** Where the window and the container are. */
function scrolled(page: Page): Promise<number[]> {
  return page.evaluate(`[scrollX, scrollY, ${CONTAINER}.scrollLeft, ${CONTAINER}.scrollTop]`)
}

async function scrollAndSave(page: Page, key = 'a', top = 1200): Promise<number[]> {
  await page.evaluate(`
    scrollTo({ top: ${top}, behavior: 'instant' })
    ${CONTAINER}.scrollTo({ left: 90.5, top: 333.3, behavior: 'instant' })
    positions.save('${key}')
  `)
  return scrolled(page)
}

/** The page after a navigation, with little in it yet. */
async function shrink(page: Page): Promise<void> {
  await page.evaluate(`tall.style.height = rest.style.height = things.style.height = '10px'`)
}

/** Ends what the test began: another frame is on the screen. */
async function nextFrame(page: Page): Promise<void> {
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

describe('a scroll position', () => {
  moduleTest.for([1, 1.5, 2.625])(
    'is restored exactly, on a screen with %s pixels a pixel',
    async (ratio, { open }) => {
      const page = await openPositions(open, { context: { deviceScaleFactor: ratio } })
      const before = await scrollAndSave(page)
      expect(before[1]).toBe(1200)
      expect(before[3]).toBeCloseTo(333.3, 0)
      await page.evaluate('positions.toTop()')
      await page.evaluate(`${CONTAINER}.scrollTo({ left: 0, top: 0, behavior: 'instant' })`)
      expect(await scrolled(page)).toEqual([0, 0, 0, 0])
      expect(await page.evaluate(`positions.restore('a')`)).toBe(true)
      expect(await scrolled(page)).toEqual(before)
    },
  )

  moduleTest('that nobody has saved is none', async ({ open }) => {
    const page = await openPositions(open)
    expect(await page.evaluate(`positions.restore('never')`)).toBe(false)
  })

  moduleTest('is reached as the page grows, and left alone from then on', async ({ open }) => {
    const page = await openPositions(open)
    const before = await scrollAndSave(page)
    await shrink(page)
    expect(await page.evaluate(`positions.restore('a')`)).toBe(true)
    expect(await scrolled(page)).not.toEqual(before)
    await page.evaluate(`tall.style.height = '900px'`)
    await until(page, 'scrollY > 0 && scrollY < 1200')
    await page.evaluate(`tall.style.height = '3000px'`)
    await until(page, 'scrollY === 1200')
    await page.evaluate(`scrollTo({ top: 77, behavior: 'instant' })`)
    await page.evaluate(`things.style.height = '1000px'`)
    await until(page, `${CONTAINER}.scrollTop === ${before[3]}`)
    expect(await scrolled(page)).toEqual([0, 77, ...before.slice(2)])
  })

  moduleTest('of a container that comes later is restored when it is there', async ({ open }) => {
    const page = await openPositions(open)
    const before = await scrollAndSave(page)
    await page.evaluate(`window.container = ${CONTAINER}; container.remove()`)
    await page.evaluate(`positions.restore('a')`)
    await nextFrame(page)
    await page.evaluate('document.body.prepend(container)')
    await until(page, `container.scrollTop === ${before[3]}`)
    expect((await scrolled(page)).slice(2)).toEqual(before.slice(2))
  })

  moduleTest.for([
    ['the wheel', (page: Page) => page.mouse.wheel(0, 1)],
    ['a key', (page: Page) => page.keyboard.press('ArrowDown')],
    ['the pointer', (page: Page) => page.mouse.down()],
    ['a finger', (page: Page) => page.dispatchEvent('body', 'touchstart')],
    ['another position', (page: Page) => page.evaluate(`positions.restore('b')`)],
    ['the start of the page', (page: Page) => page.evaluate('positions.toTop()')],
    ['a fragment', (page: Page) => page.evaluate(`positions.toHash('#with space')`)],
  ] as const)('that has not been reached is given up for %s', async ([, interrupt], { open }) => {
    const page = await openPositions(open)
    await scrollAndSave(page, 'b', 0)
    await scrollAndSave(page)
    await shrink(page)
    await page.evaluate(`positions.restore('a')`)
    await interrupt(page)
    await nextFrame(page)
    await page.evaluate(`rest.style.height = '3000px'`)
    await nextFrame(page)
    expect(await page.evaluate('scrollY')).toBeLessThan(1000)
  })

  moduleTest('that has not been reached after five seconds is given up', async ({ open }) => {
    const page = await openPositions(open, {}, true)
    await page.clock.pauseAt(Date.now() + 60_000)
    await scrollAndSave(page)
    await shrink(page)
    await page.evaluate(`positions.restore('a')`)
    await page.clock.runFor(4900)
    await page.evaluate(`tall.style.height = '1000px'`)
    await page.clock.runFor(50)
    const reached = await page.evaluate('scrollY')
    expect(reached).toBeGreaterThan(100)
    await page.clock.runFor(100)
    await page.evaluate(`tall.style.height = '3000px'`)
    await page.clock.runFor(100)
    expect(await page.evaluate('scrollY')).toBe(reached)
  })
})

moduleTest('a page that stays shorter than it was may be scrolled by its own scripts', async ({ open }) => {
  const page = await openPositions(open)
  await scrollAndSave(page)
  await page.evaluate(`rest.style.height = tall.style.height = '400px'`)
  await page.evaluate(`positions.restore('a')`)
  await nextFrame(page)
  await page.evaluate(`scrollTo({ top: 30, behavior: 'instant' })`)
  await nextFrame(page)
  expect(await page.evaluate('scrollY')).toBe(30)
})

describe('after a reload', () => {
  moduleTest(
    'positions are known, those of the page that was left among them; containers alone can be restored',
    async ({ open }) => {
      const page = await openPositions(open)
      const before = await scrollAndSave(page, 'a')
      await page.evaluate(`scrollTo({ top: 300, behavior: 'instant' })`)
      await page.reload()
      await ready(page)
      await page.evaluate(`positions.toTop()`)
      expect(await page.evaluate(`positions.restore('here', 'containers')`)).toBe(true)
      expect(await scrolled(page)).toEqual([0, 0, ...before.slice(2)])
      expect(await page.evaluate(`positions.restore('here')`)).toBe(true)
      expect(await scrolled(page)).toEqual([0, 300, ...before.slice(2)])
      expect(await page.evaluate(`positions.restore('a')`)).toBe(true)
      expect(await scrolled(page)).toEqual(before)
    },
  )

  moduleTest('only the newest fifty are known', async ({ open }) => {
    const page = await openPositions(open)
    await page.evaluate(
      `for (let index = 0; index < 60; index += 1) positions.save('k' + index); positions.save('k10')`,
    )
    await page.reload()
    await ready(page)
    const known = await page.evaluate(
      `Array.from({ length: 60 }, (_, index) => 'k' + index).filter((key) => positions.restore(key))`,
    )
    // With the page that was left there are fifty of them; the eleventh has been saved again.
    expect(known).toEqual(['k10', ...Array.from({ length: 48 }, (_, index) => `k${index + 12}`)])
  })

  moduleTest.for(['{broken', '7', '"text"', '[[1]]', '[["a", 7]]', '[["a", [["", "x", null]]]]', 'null', '[null]'])(
    'whatever else lies in the storage is no position: %s',
    async (garbage, { open }) => {
      const page = await openPositions(open)
      await page.evaluate(
        `addEventListener('pagehide', () => sessionStorage.setItem('millrace:scroll', ${JSON.stringify(garbage)}))`,
      )
      await page.reload()
      await ready(page)
      await page.evaluate(`positions.restore('a')`)
      expect(await scrolled(page)).toEqual([0, 0, 0, 0])
      expect(await scrollAndSave(page, 'b')).toEqual(await scrolled(page))
    },
  )

  moduleTest('a storage that is full costs nothing but positions', async ({ open }) => {
    const page = await openPositions(open)
    await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`)
    await page.reload()
    await ready(page)
    expect(await page.evaluate(`positions.restore('here')`)).toBe(false)
  })
})

describe('a fragment', () => {
  moduleTest.for([
    ['#target', 'target', 50],
    ['#with%20space', 'with space', 0],
    ['#100%', '100%', 0],
    ['#100%25', '100%', 0],
  ] as const)('%s leads to its element at once, below its margin', async ([hash, id, margin], { open }) => {
    const page = await openPositions(open)
    expect(await page.evaluate(`positions.toHash('${hash}')`)).toBe(true)
    expect(await page.evaluate(`document.getElementById('${id}').getBoundingClientRect().top`)).toBeCloseTo(margin, 0)
  })

  moduleTest('may be the name of an anchor', async ({ open }) => {
    const page = await openPositions(open)
    expect(await page.evaluate(`positions.toHash('#old')`)).toBe(true)
    expect(await page.evaluate(`document.querySelector('a').getBoundingClientRect().top`)).toBeCloseTo(50, 0)
  })

  moduleTest.for(['', '#', '#top', '#TOP'])('"%s" is the start of the page', async (hash, { open }) => {
    const page = await openPositions(open)
    await scrollAndSave(page)
    expect(await page.evaluate(`positions.toHash('${hash}')`)).toBe(true)
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  moduleTest('that names nothing leads nowhere', async ({ open }) => {
    const page = await openPositions(open)
    await scrollAndSave(page)
    expect(await page.evaluate(`positions.toHash('#nothing"]')`)).toBe(false)
    expect(await page.evaluate('scrollY')).toBe(1200)
  })
})
