/** What depends on how an engine keeps its history and its documents: blockers, races, deployments. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EnginePage } from '../support/engines/engine-page.ts'
import { expectHeading, expectShown, press, travel, type, visit } from '../support/engines/engine-visits.ts'
import { findEngines } from '../support/engines/find-engines.ts'
import { suiteEngine } from '../support/engines/suite-engine.ts'
import { openDeployment, startEdition, type Deployment, type RouterApp } from '../support/router-app.ts'

let edition: RouterApp
let next: RouterApp
let deployment: Deployment
beforeAll(async () => {
  edition = await startEdition('1', 'router-app')
  next = await startEdition('2', 'router-app')
  deployment = await openDeployment(edition.server)
})
afterAll(async () => {
  deployment.close()
  await Promise.all([edition.stop(), next.stop()])
})

/** Opens a page of the first edition, and marks its document. */
async function open(page: EnginePage, path: string): Promise<void> {
  deployment.deploy(edition.server)
  await visit(page, deployment.origin + path)
  await mark(page)
}

function mark(page: EnginePage): Promise<unknown> {
  return page.run(() => void Object.assign(window, { sameDocument: true }))
}

function isSameDocument(page: EnginePage): Promise<boolean> {
  return page.run(() => 'sameDocument' in window)
}

const position = (page: EnginePage): Promise<unknown> =>
  page.run(() => ({ index: history.state.millrace.index as unknown, length: history.length }))

describe.for(findEngines())('the router in $name', (engine) => {
  const page = suiteEngine(engine)

  test.for([
    { delta: -1, to: '/mills/1', title: 'Mill 1' },
    { delta: -2, to: '/', title: 'Home' },
    { delta: 1, to: '/mills/2', title: 'Mill 2' },
  ])('holds a move by $delta entries back, and then lets it go', async ({ delta, to, title }) => {
    await open(page, '/')
    for (const [link, name] of [
      ['/mills/1', 'Mill 1'],
      ['/editor', 'Editor'],
      ['/mills/2', 'Mill 2'],
    ] as const) {
      await press(page, link)
      await expectHeading(page, name)
    }
    await travel(page, -1)
    await expectHeading(page, 'Editor')
    await type(page, 'text', 'unsaved')
    const before = await position(page)

    await travel(page, delta)
    await expectShown(page, 'blocked', `traverse ${to}`)
    expect(await page.run(() => location.pathname)).toBe('/editor')
    expect(await position(page)).toEqual(before)
    await press(page, 'Stay')
    await page.until(() => document.querySelector('[role=alertdialog]') === null)

    await travel(page, delta)
    await expectShown(page, 'blocked', `traverse ${to}`)
    await press(page, 'Leave')
    await expectHeading(page, title)
    expect(await page.run(() => location.pathname)).toBe(to)
    await travel(page, -delta)
    await expectHeading(page, 'Editor')
    expect(await position(page)).toEqual(before)
    expect(await isSameDocument(page)).toBe(true)
  })

  test('a click and back in one moment: back counts', async () => {
    await open(page, '/')
    await press(page, '/mills/1')
    await expectHeading(page, 'Mill 1')
    await page.run(() => {
      document.querySelector<HTMLElement>('a[href="/mills/2"]')?.click()
      history.back()
    })
    await expectHeading(page, 'Home')
    expect(await page.run(() => location.pathname)).toBe('/')
    expect(await isSameDocument(page)).toBe(true)
  })

  test('an early shell is alive before its page is there, and the page in it after that', async () => {
    const path = `/early/${randomUUID()}`
    const isNamed = (text: string): boolean =>
      [...document.querySelectorAll('button')].some((one) => one.textContent === text)
    await open(page, '/')
    await page.run((to) => void setTimeout(() => location.assign(to)), path)
    // The driver of WebKit answers when all of a document is there.
    const seesShell = engine.name !== 'WebKit'
    if (seesShell) {
      await page.until((to) => location.pathname === to && history.state?.millrace !== undefined, path)
      await press(page, 'shell 0')
      await page.until(isNamed, 'shell 1')
      expect(await page.run(() => document.querySelector('h1'))).toBe(null)
    }
    await fetch(`${deployment.origin}${path}/gate`, { method: 'POST', body: 'mill' })
    await expectHeading(page, 'Run 1 1')
    await page.until(() => history.state?.millrace !== undefined)
    if (!seesShell) await press(page, 'shell 0')
    await page.until(isNamed, 'shell 1')
    // The heading is there before React is: a click on what it has not reached would be lost.
    await page.until(
      (text) =>
        [...document.querySelectorAll('button')].some(
          (one) => one.textContent === text && Object.keys(one).some((key) => key.startsWith('__reactProps')),
        ),
      'page 0',
    )
    await press(page, 'page 0')
    await page.until(isNamed, 'page 1')
    await press(page, '/mills/1')
    await expectHeading(page, 'Mill 1')
    await travel(page, -1)
    await expectHeading(page, 'Run 1 1')
  })

  test('a deployment is one document load, and what was typed is still there', async () => {
    await open(page, '/editor')
    await type(page, 'note', 'half a thought')
    deployment.deploy(next.server)
    await press(page, 'Second tab')
    await page.until(() => document.documentElement.dataset['edition'] === '2')
    await page.until(() => document.querySelector<HTMLInputElement>('[name=note]')?.value === 'half a thought')
    expect(await page.run(() => location.pathname + location.search)).toBe('/editor?tab=2')
    await mark(page)
    await press(page, '/mills/1')
    await expectHeading(page, 'Mill 1')
    expect(await isSameDocument(page)).toBe(true)
  })
})
