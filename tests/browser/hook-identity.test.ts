/** Functions of hooks, as dependencies of effects: every hook that the package exports. */
import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { heading, hold, pathOf, recordData } from '../support/router-page.ts'

const ROUTER = /_m\/assets\/start-router-.*\.js/

/** Runs in the page. */
declare const window: { seen: [Results, ...Results[]]; runs: number; blocks: boolean }

type Results = Readonly<Record<string, unknown>>

/** Hooks that have returned something else than at the render before, and functions that have changed since the first. */
function changes(page: Page): Promise<{ readonly results: readonly string[]; readonly functions: readonly string[] }> {
  return page.evaluate(() => {
    const functionsIn = (value: unknown, name: string): readonly (readonly [string, unknown])[] => {
      if (typeof value === 'function') return [[name, value]]
      return typeof value !== 'object'
        ? []
        : Object.entries(value ?? {}).flatMap(([key, member]) => functionsIn(member, `${name}.${key}`))
    }
    const last = window.seen.at(-1) ?? {}
    const former = window.seen.at(-2) ?? {}
    const known = new Map<string, unknown>()
    const changed = new Set<string>()
    for (const [path, value] of window.seen.flatMap((one) => functionsIn(one, ''))) {
      if (known.has(path) && known.get(path) !== value) changed.add(path)
      known.set(path, value)
    }
    return {
      results: Object.keys(last).filter((name) => last[name] !== former[name]),
      functions: [...changed],
    }
  })
}

async function render(page: Page): Promise<void> {
  const times = Number(await page.getByTestId('renders').textContent())
  await page.getByRole('button', { name: 'Render' }).click()
  await page
    .getByTestId('renders')
    .getByText(String(times + 1))
    .waitFor()
}

browserTest(
  'a render changes nothing that a hook returns, before the router has loaded and after',
  async ({ open }) => {
    const page = await open()
    const held = await hold(page, ROUTER)
    await page.goto('/hooks/other', { waitUntil: 'commit' })
    await page.waitForFunction(() => 'seen' in window)
    await render(page)
    expect(await changes(page)).toEqual({ results: [], functions: [] })
    held.release()
    await untilAlive(page)
    await render(page)
    await render(page)
    expect(await changes(page)).toEqual({ results: [], functions: [] })
    const names = await page.evaluate(() => Object.keys(window.seen[0]))
    expect(names).toContain('useSearch')
    expect(names.length).toBeGreaterThan(15)
  },
)

browserTest('functions of hooks stay the same over navigations, and see the page on screen', async ({ open }) => {
  const page = await open()
  await page.goto('/hooks/other')
  await untilAlive(page)
  await page.evaluate(() => (window.seen[0]['useNavigate'] as { navigate(to: string): void }).navigate('/hooks?seen=1'))
  await heading(page, 'Hooks')
  await page.evaluate(() => (window.seen[0]['useSearch'] as [unknown, (next: object) => void])[1]({ last: '1' }))
  await expect.poll(() => pathOf(page)).toBe('/hooks?last=1')
  await page.evaluate(() => Object.assign(window, { blocks: true }))
  await page.getByRole('link', { name: 'Other' }).click()
  await page.waitForFunction(() => window.seen.at(-1)?.['useBlocker'] !== undefined)
  await render(page)
  expect(await changes(page)).toEqual({ results: [], functions: [] })
  await page.evaluate(() => {
    const { useBlocker } = window.seen.at(-1) ?? {}
    Object.assign(window, { blocks: false })
    Object(useBlocker).proceed()
  })
  await heading(page, 'Other')
  expect((await changes(page)).functions).toEqual([])
  expect(await isSameDocument(page)).toBe(true)
})

browserTest('an effect that depends on them runs once', async ({ open }) => {
  const page = await open()
  const asked = recordData(page)
  await page.goto('/hooks')
  await untilAlive(page)
  await page.getByTestId('runs').getByText('yes loaded').waitFor()
  await render(page)
  expect(await page.getByTestId('runs').textContent()).toBe('yes loaded')
  expect(await page.evaluate(() => window.runs)).toBe(1)
  expect(asked).toEqual(['/mills/1'])
})
