/** `browserTest` for the pages of tests/fixtures/actions-app, built and served as an application is. */
import { untilAlive } from 'millrace/testing'
import { randomUUID } from 'node:crypto'
import type { Page, Route } from 'playwright-core'
import { deploymentTest } from './router-app.ts'

export const actionTest = deploymentTest('actions-app')

/** When scripts run: before a form is sent, only after that, or never. */
export const SCRIPTS = [
  { name: 'on', scripts: 'on' },
  { name: 'off', scripts: 'off' },
  { name: 'arriving late', scripts: 'late' },
] as const

/** One of them. */
type Scripts = (typeof SCRIPTS)[number]['scripts']

/** A page of one test, where its actions write to a ledger of their own. */
interface ActionPage {
  readonly page: Page
  /** Path and query of the page that was opened. */
  readonly path: string
  /** Lets scripts come that have been held back, and waits until the page is alive; nothing where there are none. */
  settle(): Promise<void>
}

/** Opens a page with a ledger of its own. */
export async function openActions(page: Page, scripts: Scripts, pathname = '/form'): Promise<ActionPage> {
  const path = `${pathname}?key=${randomUUID()}`
  const held: Route[] = []
  if (scripts === 'late') await page.route('**/_m/assets/*.js', (route) => void held.push(route))
  await page.goto(path, { waitUntil: scripts === 'late' ? 'commit' : 'load' })
  if (scripts === 'on') await untilAlive(page)
  await page.locator('h1').waitFor()
  return {
    page,
    path,
    async settle() {
      if (scripts !== 'late') return
      await page.unroute('**/_m/assets/*.js')
      // Those of the page before have gone with it.
      for (const route of held) await route.continue().catch(() => undefined)
      await untilAlive(page)
    },
  }
}

/** Clicks a button of the page by its name. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click()
}

/** URLs of calls and of forms that are sent. */
export const isCall = (url: URL): boolean => url.searchParams.has('_action')
