/** What a browser without scripts does by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findEngines } from '../support/engines/find-engines.ts'
import { suiteEngine } from '../support/engines/suite-engine.ts'
import { RESETS, withStyles } from '../support/resets.ts'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { startEdition, type RouterApp } from '../support/router-app.ts'
import { openWithoutScripts } from '../support/without-scripts.ts'
import type { ListeningServer } from '../support/listening.ts'

let app: RouterApp
let lab: BuiltServer
let site: ListeningServer
let streams: ListeningServer
beforeAll(async () => {
  app = await startEdition('1', 'actions-app')
  lab = await startBuiltServer()
  site = await openWithoutScripts(app.server)
  streams = await openWithoutScripts(lab, (html, url) => {
    const reset = new URL(url, 'http://localhost').searchParams.get('reset')
    return withStyles(html, RESETS[Number(reset)]?.[1] ?? '')
  })
})
afterAll(async () => {
  await Promise.all([site, streams].map((server) => server[Symbol.asyncDispose]()))
  await Promise.all([app.stop(), lab.stop()])
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

  test.for(RESETS.map(([name], at) => ({ name, at })))(
    'a streamed part is shown under a reset: $name',
    async ({ at }) => {
      await page.goto(`http://127.0.0.1:${streams.port}/lab/stream?delay=10&reset=${at}`)
      const shown = await page.run(() => {
        const isShown = (selector: string): boolean => {
          const element = document.querySelector(selector)
          return element?.checkVisibility({ visibilityProperty: true }) === true && element.getClientRects().length > 0
        }
        return [isShown('[data-testid=deferred]'), isShown('template[id*="B:"]'), isShown('template + [aria-busy]')]
      })
      expect(shown).toEqual([true, true, false])
    },
  )
})
