/** A form that is pressed before hydration, which the browser sends, and again after it, which the router sends. */
import { randomUUID } from 'node:crypto'
import type { Page, Route } from 'playwright-core'
import { describe, expect } from 'vitest'
import { actionTest as browserTest, isCall } from '../support/actions-app.ts'

const ALIVE = 'the page is alive'

/** Says when it is alive: Playwright evaluates nothing in a page whose next document is on its way. */
function sayAlive(message: string): void {
  const timer = setInterval(() => {
    if ((history.state as { millrace?: unknown } | null)?.millrace === undefined) return
    clearInterval(timer)
    document.querySelector('h1')?.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }))
    // oxlint-disable-next-line no-console -- the test hears it
    console.debug(message)
  }, 20)
}

/**
 * Presses one button while scripts are on their way, with an action that does not end before the page is alive, and then
 * another one, and lets the action end.
 */
async function pressBoth(page: Page, early: string, late: string): Promise<void> {
  await page.addInitScript(sayAlive, ALIVE)
  const search = `?key=${randomUUID()}`
  const held: Route[] = []
  const pressed: boolean[] = []
  const gate = `/late/gate${search}`
  await page.request.get(`${gate}&gate=shut`)
  await page.route('**/_m/assets/*.js', (route) => (pressed.length === 0 ? void held.push(route) : route.continue()))
  await page.goto(`/controls${search}`, { waitUntil: 'commit' })
  await page.getByLabel('text').fill('a')
  const boxOf = (name: string) => page.getByRole('button', { name, exact: true }).boundingBox()
  const boxes = [await boxOf(early), await boxOf(late)]
  const isAlive = page.waitForEvent('console', (message) => message.text() === ALIVE)
  for (const box of boxes) {
    const sent = page.waitForRequest((request) => isCall(new URL(request.url())))
    await page.mouse.click((box?.x ?? 0) + 4, (box?.y ?? 0) + 4)
    pressed.push((await sent).isNavigationRequest())
    if (pressed.length > 1) continue
    for (const route of held) await route.continue()
    await isAlive
  }
  expect(pressed).toEqual([true, false])
  await page.request.get(`${gate}&gate=open`)
}

describe('a form that is pressed before and after hydration', () => {
  browserTest.for([
    ['One', 'One', 'first one a'],
    ['Other action', 'Other action', 'second a'],
    ['One', 'Two', 'first one a, first two a'],
  ] as const)('runs its action once for each button: %s, %s', async ([early, late, ran], { open }) => {
    const page = await open()
    await pressBoth(page, early, late)
    await page.getByTestId('ran').getByText(ran, { exact: true }).waitFor()
  })
})
