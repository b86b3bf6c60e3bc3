/** Calls of the client router that meet each other, a navigation, or a network that fails. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { actionTest as browserTest, isCall, openActions, press } from '../support/actions-app.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { clickLink, heading, hold, pathOf } from '../support/router-page.ts'

/** Marks a call by what its body holds, and lets it wait on the way to the server or back. */
async function holdCall(page: Page, holding: string, end: 'request' | 'answer') {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(isCall, async (route) => {
    if (!(route.request().postData() ?? '').includes(holding)) return route.fallback()
    if (end === 'request') {
      asked.resolve()
      await released.promise
      return route.continue().catch(() => undefined)
    }
    const response = await route.fetch()
    asked.resolve()
    await released.promise
    return route.fulfill({ response }).catch(() => undefined)
  })
  return { asked: asked.promise, release: () => released.resolve() }
}

const ran = (page: Page): Promise<string> => page.getByTestId('ran').innerText()

describe('calls', () => {
  browserTest('of one action keep their order, and each gets its own result', async ({ open }) => {
    const page = await open({ allow: [statusComplaint(422)] })
    const bodies: string[] = []
    page.on('request', (request) => isCall(new URL(request.url())) && bodies.push(request.postData() ?? ''))
    // Whose code comes late, so that all of them wait for it together.
    const code = await hold(page, /call-action-[^/]*\.js$/)
    await openActions(page, 'on')
    const first = await holdCall(page, '"name":"a"', 'request')
    await press(page, 'Save four')
    code.release()
    await first.asked
    expect(bodies).toEqual([expect.stringContaining('"name":"a"')])
    first.release()
    await page.getByTestId('results').getByText('a saved, b saved, c saved, long name invalid').waitFor()
    expect(bodies).toHaveLength(4)
    await expect.poll(() => ran(page)).toBe('saved a, saved b, saved c')
  })

  browserTest(
    'of different actions do not wait for each other, and the page shows what both have done',
    async ({ open }) => {
      const { page } = await openActions(await open(), 'on')
      // Its answer carries the page as it was before the other call.
      const held = await holdCall(page, 'slow one', 'answer')
      await page.getByLabel('note').fill('slow one')
      await press(page, 'Count')
      await held.asked
      const answered = page.waitForResponse((response) => isCall(new URL(response.url())))
      await press(page, 'Quiet')
      await answered
      held.release()
      await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
      await expect.poll(() => ran(page)).toBe('count, quiet')
    },
  )

  browserTest(
    'do not keep anybody from leaving the page, and their result is there on the way back',
    async ({ open }) => {
      const { page, path } = await openActions(await open(), 'on')
      const held = await holdCall(page, 'key', 'request')
      await press(page, 'Quiet')
      await held.asked
      await clickLink(page, 'Home')
      await heading(page, 'Home')
      const answered = page.waitForResponse((response) => isCall(new URL(response.url())))
      held.release()
      expect((await answered).status()).toBe(200)
      await page.goBack()
      await heading(page, 'Form')
      await expect.poll(() => ran(page)).toBe('quiet')
      expect(pathOf(page)).toBe(path)
    },
  )

  browserTest('that redirect do not call back who has gone elsewhere', async ({ open }) => {
    const { page, path } = await openActions(await open(), 'on')
    const held = await holdCall(page, 'key', 'request')
    await press(page, 'Leave')
    await held.asked
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    await page.goBack()
    await heading(page, 'Form')
    const answered = page.waitForResponse((response) => isCall(new URL(response.url())))
    held.release()
    await answered
    // Takes the time in which it would have gone.
    await press(page, 'Quiet')
    await page.getByTestId('ran').getByText('leave, quiet', { exact: true }).waitFor()
    expect(pathOf(page)).toBe(path)
  })

  browserTest('whose answer is lost are sent again, and have run once', async ({ open }) => {
    const { page } = await openActions(await open({ allow: [/ERR_CONNECTION_RESET/] }), 'on')
    let lost = 0
    await page.route(isCall, async (route) => {
      if (lost > 0) return route.continue()
      lost += 1
      await route.fetch()
      return route.abort('connectionreset')
    })
    await press(page, 'Count')
    await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
    expect(lost).toBe(1)
    expect(await ran(page)).toBe('count')
  })

  browserTest('of two clicks are one, though the button has gone meanwhile', async ({ open }) => {
    const { page } = await openActions(await open(), 'on')
    const held = await holdCall(page, 'key', 'request')
    await page.getByLabel('name', { exact: true }).fill('ann')
    await press(page, 'Save')
    await page.getByText('Saving …').waitFor()
    await page.getByLabel('name', { exact: true }).press('Enter')
    held.release()
    await page.getByTestId('saved').getByText('ann', { exact: true }).waitFor()
    await page.reload()
    expect(await ran(page)).toBe('saved ann')
  })

  browserTest('of two clicks are one while the code for calls is still on its way', async ({ open }) => {
    const page = await open()
    const released = Promise.withResolvers<void>()
    await page.route('**/_m/assets/call-action-*.js', async (route) => {
      await released.promise
      await route.continue()
    })
    await openActions(page, 'on')
    await press(page, 'Count')
    await press(page, 'Count')
    released.resolve()
    await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
    await page.reload()
    expect(await ran(page)).toBe('count')
  })
})
