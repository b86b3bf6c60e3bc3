import { expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { THEME_COLORS, THEME_KEY } from '../../src/app/site/theme.ts'

/** The chosen theme, the colour of the page, and the colour around it. */
const LOOK = `[
  document.documentElement.dataset.theme,
  getComputedStyle(document.documentElement).backgroundColor,
  document.querySelector('meta[name="theme-color"]')?.content,
]`

const rgb = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`

browserTest.for(['/lab', '/lab/kept/theme', '/nowhere'])(
  '%s has the chosen theme before a script of the page has loaded',
  async (path, { open }) => {
    const page = await open({ context: { colorScheme: 'light' }, allow: [statusComplaint(404)] })
    await page.addInitScript(([key, theme]) => localStorage.setItem(key, theme), [THEME_KEY, 'dark'] as const)
    const gate = Promise.withResolvers<void>()
    await page.route('**/_m/assets/*.js', async (route) => {
      await gate.promise
      await route.continue()
    })
    await page.goto(path, { waitUntil: 'commit' })
    await page.locator('h1').waitFor()
    expect(await page.evaluate(LOOK)).toEqual(['dark', rgb(THEME_COLORS.dark), THEME_COLORS.dark])
    gate.resolve()
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate(LOOK)).toEqual(['dark', rgb(THEME_COLORS.dark), THEME_COLORS.dark])
  },
)

browserTest(
  'the button changes the theme for this and later documents, and back to that of the system',
  async ({ open }) => {
    const page = await open({ context: { colorScheme: 'dark' } })
    await page.goto('/lab')
    const button = page.getByRole('button', { name: /^Theme: / })
    const choose = async (theme: string): Promise<void> => {
      await expect.poll(() => button.getAttribute('aria-label')).not.toBe(`Theme: ${theme}`)
      await button.click()
      await page.getByRole('button', { name: `Theme: ${theme}` }).waitFor()
    }
    await choose('light')
    const light = ['light', rgb(THEME_COLORS.light), THEME_COLORS.light]
    expect(await page.evaluate(LOOK)).toEqual(light)
    await page.reload()
    expect(await page.evaluate(LOOK)).toEqual(light)
    await page.getByRole('button', { name: 'Theme: light' }).waitFor()
    await choose('dark')
    await choose('system')
    expect((await page.evaluate<unknown[]>(LOOK)).slice(0, 2)).toEqual([undefined, rgb(THEME_COLORS.dark)])
  },
)
