/** Fallbacks and traversals by computed styles, as in Chromium (tests/browser/fallback-styles). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EnginePage } from '../support/engines/engine-page.ts'
import { press, travel, visit } from '../support/engines/engine-visits.ts'
import { findEngines } from '../support/engines/find-engines.ts'
import { suiteEngine } from '../support/engines/suite-engine.ts'
import { JOURNEYS, readShown, SHEETS, WAYS, type Shown } from '../support/fallback-ways.ts'
import { startEdition, type RouterApp } from '../support/router-app.ts'

let app: RouterApp
beforeAll(async () => {
  app = await startEdition('1', 'fallbacks-app')
})
afterAll(() => app.stop())

async function expectShown(page: EnginePage, { heading, title, applied }: Shown): Promise<void> {
  const read = (): Promise<Shown> => page.read(readShown, SHEETS).catch(() => ({ heading: '', title: '', applied: '' }))
  await expect.poll(read, { timeout: 15_000 }).toEqual({ heading, title, applied })
}

const isNamed = (name: string): boolean =>
  [...document.querySelectorAll('a,button')].some(({ textContent }) => textContent === name)

const isListed = (): boolean =>
  history.state?.millrace !== undefined &&
  performance.getEntriesByType('resource').some(({ name }) => name.includes('/segments-'))

describe.for(findEngines())('$name', (engine) => {
  const page = suiteEngine(engine)

  test.for(WAYS)('$name has its styles', async ({ at, press: name, ...shown }) => {
    await visit(page, app.server.origin + at)
    if (name !== undefined) await press(page, name)
    await expectShown(page, shown)
    await page.until(isListed)
    await expectShown(page, shown)
  })

  test.for(JOURNEYS)('$name leaves the styles of the page on screen', async ({ at, steps }) => {
    await visit(page, app.server.origin + at)
    await page.until(isListed)
    for (const [step, shown] of steps) {
      if ('press' in step) {
        await page.until(isNamed, step.press)
        await press(page, step.press)
      } else if ('goto' in step) await page.goto(app.server.origin + step.goto)
      else if ('reload' in step) await page.run(() => void setTimeout(() => location.reload()))
      else await travel(page, step.travel)
      await expectShown(page, shown)
    }
  })
})
