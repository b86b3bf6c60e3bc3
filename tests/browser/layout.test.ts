import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'

const MAIN_PAGES = [
  '/',
  '/docs',
  '/docs/routes',
  '/lab',
  '/lab/params/7',
  '/lab/crash/client',
  '/lab/stream?delay=0',
] as const

describe.for([320, 390, 1280])('at %d pixels', (width) => {
  browserTest.for(MAIN_PAGES)('nothing of %s has to be scrolled sideways', async (path, { open }) => {
    const page = await open({ context: { viewport: { width, height: 800 } } })
    await page.goto(path)
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, document.body.scrollWidth])
    expect(Math.max(...widths)).toBeLessThanOrEqual(width)
  })
})

describe.for(['light', 'dark'] as const)('in the %s scheme', (colorScheme) => {
  browserTest.for(['/', '/docs', '/lab', '/lab/params/7'])(
    'nothing of %s shuts anybody out',
    async (path, { open }) => {
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
    },
  )
})
