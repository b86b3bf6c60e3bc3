import { untilAlive } from 'millrace/testing'
import { expect } from 'vitest'
import type { Page } from 'playwright-core'
import { browserTest } from '../support/browser.ts'

const field = (page: Page) => page.getByRole('dialog').getByRole('combobox', { name: 'Search the handbook' })
const chosen = (page: Page) => page.getByRole('option', { selected: true })

browserTest(
  'the dialog opens by a key, searches while typing, and leads to a section by arrow keys',
  async ({ open }) => {
    const page = await open({ context: { viewport: { width: 390, height: 800 } } })
    await page.goto('/docs/rules')
    await expect.poll(() => page.keyboard.press('/').then(() => field(page).count())).toBe(1)
    await page.keyboard.type('server sent eve')
    await chosen(page).getByText('Event streams').waitFor()
    expect(await chosen(page).locator('mark').count()).toBeGreaterThan(0)
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'))
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth)
    expect(await wide()).toBe(390)

    const second = await page.getByRole('option').nth(1).getByRole('link', { includeHidden: true }).getAttribute('href')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${second}`)
    expect(await page.getByRole('dialog').count()).toBe(0)
  },
)

browserTest('Ctrl+K opens it too, Escape closes it, and what is typed into the box goes on in it', async ({ open }) => {
  const page = await open()
  await page.goto('/docs')
  await expect.poll(() => page.keyboard.press('Control+k').then(() => field(page).count())).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('searchbox').pressSequentially('coo')
  await expect.poll(() => field(page).inputValue()).toBe('coo')
  await field(page).fill('cookie')
  await page.getByRole('option', { name: /^Cookies of your own/ }).click()
  await page.waitForURL('**/docs/sessions#section-cookies-of-your-own')
})

/** Holds the dialog's script back until it is called. */
async function holdDialog(page: Page): Promise<() => void> {
  const gate = Promise.withResolvers<void>()
  await page.route('**/search-dialog-*.js', async (route) => {
    await gate.promise
    await route.continue()
  })
  return () => gate.resolve()
}

browserTest.for(['a click into the box', 'the key /'])(
  'after %s, keys that are pressed while the dialog loads are not lost',
  async (way, { open }) => {
    const page = await open()
    const show = await holdDialog(page)
    await page.goto('/docs/rules')
    await untilAlive(page)
    if (way === 'the key /') await page.keyboard.press('/')
    else await page.getByRole('searchbox').click()
    await page.keyboard.type('cookes')
    await page.keyboard.press('ArrowLeft')
    show()
    await field(page).waitFor()
    expect(await field(page).inputValue()).toBe('cookes')
    await page.keyboard.type('i')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await field(page).inputValue()).toBe('cookeis')
    expect(await page.locator('#handbook-search').inputValue()).toBe('')
  },
)

browserTest('a dialog that does not load leaves the box a form', async ({ open }) => {
  const page = await open({ allow: [/search-dialog-/] })
  await page.route('**/search-dialog-*.js', (route) => route.abort())
  await page.goto('/docs/rules')
  await untilAlive(page)
  await page.keyboard.press('/')
  await page.keyboard.type('hydration')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Search: hydration' }).waitFor()
})

browserTest('one Escape closes the dialog with its text, and the focus is where it was', async ({ open }) => {
  const page = await open({ context: { viewport: { width: 390, height: 800 } } })
  await page.goto('/docs/rules')
  await untilAlive(page)
  const link = page.getByRole('link', { name: 'Lab' }).first()
  const search = async (leave: () => Promise<void>): Promise<void> => {
    await page.keyboard.press('/')
    await field(page).fill('cookie')
    await leave()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await link.focus()
  await search(() => page.keyboard.press('Escape'))
  expect(await link.evaluate((one) => one === document.activeElement)).toBe(true)
  await search(() => page.getByRole('button', { name: 'Close' }).click())
  expect(await link.evaluate((one) => one === document.activeElement)).toBe(true)
  // Where nothing had the focus, the next `/` opens it again.
  await link.blur()
  await search(() => page.keyboard.press('Escape'))
  await search(() => page.keyboard.press('Escape'))
})

browserTest('a search for nothing says what to type, and makes no narrow screen wide', async ({ open }) => {
  const page = await open({ context: { viewport: { width: 390, height: 800 } } })
  await page.goto('/docs/search?q=')
  await page.getByRole('heading', { level: 1, name: 'Search the handbook' }).waitFor()
  expect(await page.getByText('Nothing found').count()).toBe(0)
  await page.goto(`/docs/search?q=${'w'.repeat(300)}`)
  await page.getByText('Nothing found').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})

browserTest('without JavaScript the box is a form, and the page of results has marks', async ({ open }) => {
  const page = await open({ javaScript: false })
  await page.goto('/docs')
  await page.getByRole('searchbox').fill('hydartion')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('heading', { level: 1, name: 'Search: hydartion' }).waitFor()
  const hits = page.getByRole('main').getByRole('listitem')
  expect(await hits.first().getByRole('link').getAttribute('href')).toBe(
    '/docs/how-to#section-fix-a-hydration-mismatch',
  )
  expect(await hits.first().locator('mark').count()).toBeGreaterThan(0)
  await page.goto('/docs/search?q=zzzzqq')
  await page.getByText('Nothing found for “zzzzqq”').waitFor()
})
