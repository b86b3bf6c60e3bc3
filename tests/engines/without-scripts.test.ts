/** What a browser without scripts does by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findEngines } from '../support/engines/find-engines.ts'
import { suiteEngine } from '../support/engines/suite-engine.ts'
import { startEdition, type RouterApp } from '../support/router-app.ts'
import { openWithoutScripts } from '../support/without-scripts.ts'
import type { ListeningServer } from '../support/listening.ts'

let app: RouterApp
let site: ListeningServer
beforeAll(async () => {
  app = await startEdition('1', 'actions-app')
  site = await openWithoutScripts(app.server)
})
afterAll(async () => {
  await site[Symbol.asyncDispose]()
  await app.stop()
})

describe.for(findEngines())('without scripts in $name', (engine) => {
  const page = suiteEngine(engine)

  test.for([
    { name: 'much too long', shows: 'is too long', in: 'errors' },
    { name: 'ann', shows: 'ann', in: 'saved' },
  ])('Back leads to the answer of a form: $in', async ({ name, shows, in: testId }) => {
    await page.goto('about:blank')
    await page.goto(`http://127.0.0.1:${site.port}/form?key=${crypto.randomUUID()}`)
    await page.run((text) => {
      const form = document.querySelector<HTMLFormElement>('form:has([name="address.city"])')
      const field = form?.querySelector<HTMLInputElement>('[name=name]')
      if (field) field.value = text
      form?.querySelector('button')?.click()
    }, name)
    const isShown = (id: string, part: string): boolean =>
      document.querySelector(`[data-testid=${id}]`)?.textContent?.includes(part) === true
    await page.until(isShown, testId, shows)
    await page.run(() => document.querySelector<HTMLElement>('a[href="/"]')?.click())
    await page.until(() => location.pathname === '/' && document.readyState === 'complete')
    await page.run(() => void setTimeout(() => history.back()))
    await page.until(isShown, testId, shows)
    if (testId !== 'errors') return
    expect(await page.run(() => document.querySelector<HTMLInputElement>('[name=name]')?.value)).toBe(name)
  })
})
