import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading } from '../support/router-page.ts'

/** Notes of each view transition which types it has and what moves in it once it is ready. */
function noteTransitions(): void {
  const seen: string[] = []
  const start = document.startViewTransition.bind(document)
  Object.assign(window, { viewTransitions: seen })
  document.startViewTransition = (given) => {
    const transition = start(given)
    const types = typeof given === 'object' ? [...(given.types ?? [])].join(' ') : ''
    const note = (): void => {
      const names = document
        .getAnimations()
        .map((animation) => (animation instanceof CSSAnimation ? animation.animationName : ''))
      seen.push(`${types}: ${names.includes('slide-in') ? 'slides' : 'does not slide'}`)
    }
    void transition.ready.then(note, (reason: unknown) => seen.push(`${types}: ${String(reason)}`))
    return transition
  }
}

const transitions = (page: Page): Promise<string[]> =>
  page.evaluate(() => (window as Window & { viewTransitions?: string[] }).viewTransitions ?? [])

describe('React’s ViewTransition around a page', () => {
  browserTest.for([
    { name: 'moves on a click and not on the way back', reducedMotion: 'no-preference', seen: 'slides' },
    { name: 'moves for nobody who wants no motion', reducedMotion: 'reduce', seen: 'does not slide' },
  ] as const)('$name', async ({ reducedMotion, seen }, { open }) => {
    const page = await open({ context: { reducedMotion } })
    await page.addInitScript(noteTransitions)
    await page.goto('/gallery/wheel')
    await untilAlive(page)
    await clickLink(page, '/gallery/pond')
    await heading(page, 'The pond')
    await expect.poll(() => transitions(page)).toEqual([`navigation-push: ${seen}`])
    await page.goBack()
    await heading(page, 'The wheel')
    expect(await transitions(page)).not.toContain('navigation-traverse: slides')
  })

  browserTest('after the way back is given the type of the click alone', async ({ open }) => {
    const page = await open()
    await page.addInitScript(noteTransitions)
    await page.goto('/gallery/wheel')
    await untilAlive(page)
    await clickLink(page, '/gallery/pond')
    await heading(page, 'The pond')
    await page.goBack()
    await heading(page, 'The wheel')
    await clickLink(page, '/gallery/pond')
    await heading(page, 'The pond')
    await expect.poll(async () => (await transitions(page)).length).toBeGreaterThan(1)
    expect((await transitions(page)).at(-1)).toBe('navigation-push: slides')
  })
})

browserTest('a page whose commit fails in the root is loaded as a document', async ({ open }) => {
  const page = await open({ allow: [/too many entries/] })
  await page.goto('/gallery/wheel')
  await untilAlive(page)
  // As WebKit does after a hundred entries in half a minute.
  await page.evaluate(() => {
    history.pushState = () => {
      throw new Error('too many entries')
    }
  })
  await clickLink(page, '/gallery/pond')
  await heading(page, 'The pond')
  expect(new URL(page.url()).pathname).toBe('/gallery/pond')
})
