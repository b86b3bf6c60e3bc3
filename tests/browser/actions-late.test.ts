/** Deferred values, before and after whatever changes the page. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { actionTest as browserTest, isCall, openActions, press } from '../support/actions-app.ts'
import { clickLink, heading, recordData } from '../support/router-page.ts'

const text = (page: Page, id: string) => page.getByTestId(id).innerText()
const shows = (page: Page, id: string, value: string) =>
  page.getByTestId(id).getByText(value, { exact: true }).waitFor()

/** Holds the deferred values of the page's test back, or lets them go. */
async function turnGate(page: Page, gate: 'shut' | 'open'): Promise<void> {
  const key = new URL(page.url()).searchParams.get('key') ?? ''
  const answer = await page.request.get(`/late/gate?key=${key}&gate=${gate}`)
  expect(answer.status()).toBe(200)
}

/** Opens the page, with its deferred value shown, and notes from now on whether its fallback appears. */
async function openLate(page: Page): Promise<Page> {
  await openActions(page, 'on', '/late')
  await shows(page, 'late', '0')
  await page.evaluate(() => {
    const seen: string[] = []
    Object.assign(window, { fallbacksSeen: seen })
    new MutationObserver(() => {
      const late = document.querySelector<HTMLElement>('[data-testid=late]')
      if (document.querySelector('[data-testid=waiting]') || late?.style.display === 'none') seen.push('fallback')
    }).observe(document, { subtree: true, childList: true, attributes: true })
  })
  return page
}

const fallbacksSeen = (page: Page): Promise<number> =>
  page.evaluate(() => (window as Window & { fallbacksSeen?: string[] }).fallbacksSeen?.length ?? -1)

/** Holds calls back whose body has this text. */
async function holdCalls(page: Page) {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(isCall, async (route) => {
    asked.resolve()
    await released.promise
    await route.continue().catch(() => undefined)
  })
  return { asked: asked.promise, release: () => released.resolve() }
}

describe('after an action', () => {
  const WAYS = ['Plain form', 'Dropping form', 'Stay', 'State form', 'Optimistic form', 'Transition', 'Script']

  browserTest.for(WAYS)(
    'the awaited part is fresh at once, and the deferred one when it arrives: %s',
    async (way, { open }) => {
      const page = await openLate(await open())
      const asked = recordData(page)
      for (const times of [1, 2]) {
        await turnGate(page, 'shut')
        await press(page, way)
        await shows(page, 'now', String(times))
        expect(await text(page, 'late')).toBe(String(times - 1))
        await turnGate(page, 'open')
        await shows(page, 'late', String(times))
      }
      expect(asked).toHaveLength(2)
      expect(await fallbacksSeen(page)).toBe(0)
    },
  )

  browserTest.for(WAYS)('a deferred value that is there at once is shown: %s', async (way, { open }) => {
    const page = await openLate(await open())
    await press(page, way)
    await shows(page, 'late', '1')
    expect(await text(page, 'now')).toBe('1')
    expect(await fallbacksSeen(page)).toBe(0)
  })

  browserTest('the result and what was expected do not wait for deferred values', async ({ open }) => {
    const page = await openLate(await open())
    await turnGate(page, 'shut')
    await press(page, 'State form')
    await shows(page, 'state', '1')
    await press(page, 'Script')
    await shows(page, 'ended', '1')
    expect(await text(page, 'late')).toBe('0')
    await turnGate(page, 'open')
    await shows(page, 'late', '2')
  })

  browserTest('a redirect shows its target with the fallback of what is deferred', async ({ open }) => {
    const page = await openLate(await open())
    const asked = recordData(page)
    await turnGate(page, 'shut')
    await press(page, 'Leave')
    await heading(page, 'Target')
    await page.getByTestId('waiting').waitFor()
    expect(await text(page, 'now')).toBe('1')
    await turnGate(page, 'open')
    await shows(page, 'late', '1')
    await page.goBack()
    await heading(page, 'Late')
    await clickLink(page, 'Target')
    await heading(page, 'Target')
    // Its data is known since the redirect.
    expect(asked.filter((href) => href.startsWith('/late/target'))).toEqual([])
  })

  browserTest('newer data stays when an older deferred value arrives', async ({ open }) => {
    const page = await openLate(await open())
    await turnGate(page, 'shut')
    await press(page, 'Plain form')
    await shows(page, 'now', '1')
    // Ends the first wait: its value arrives in the middle of the second call.
    await turnGate(page, 'shut')
    await press(page, 'State form')
    await shows(page, 'now', '2')
    await turnGate(page, 'open')
    await shows(page, 'late', '2')
    expect(await text(page, 'now')).toBe('2')
    expect(await fallbacksSeen(page)).toBe(0)
  })
})

describe('while an action is pending', () => {
  const PENDING = [
    { name: 'a call', begin: 'Plain form' },
    { name: 'a transition of the page’s own', begin: 'Transition without end' },
  ] as const

  browserTest.for(PENDING)('a link shows its page, fallbacks included: $name', async ({ begin }, { open }) => {
    const page = await openLate(await open())
    await holdCalls(page)
    await turnGate(page, 'shut')
    await press(page, begin)
    await clickLink(page, 'Target')
    await heading(page, 'Target')
    await page.getByTestId('waiting').waitFor()
    await turnGate(page, 'open')
    await shows(page, 'late', '0')
    await page.goBack()
    await heading(page, 'Late')
  })

  browserTest.for(PENDING.flatMap((pending) => ['Refresh', 'Revalidate'].map((how) => ({ ...pending, how }))))(
    '$how shows what is new: $name',
    async ({ begin, how }, { open }) => {
      const page = await openLate(await open())
      await holdCalls(page)
      await press(page, begin)
      const { searchParams } = new URL(page.url())
      const other = await open()
      await other.goto(`/late?${String(searchParams)}`)
      await press(other, 'Plain form')
      await shows(other, 'late', '1')
      await press(page, how)
      await shows(page, 'late', '1')
      expect(await text(page, 'now')).toBe('1')
      expect(await fallbacksSeen(page)).toBe(0)
    },
  )
})
