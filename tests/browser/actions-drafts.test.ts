/** What was typed is still there when a form could not be sent. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { actionTest as browserTest, isCall, openActions, press } from '../support/actions-app.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { OUTDATED } from '../support/router-app.ts'
import { heading, recordDocuments } from '../support/router-page.ts'

const FAILED = [/The server failed to provide this value/, /Failed to load (?:route data|script)/]

/** The form whose action fails. */
const text = (page: Page) => page.getByLabel('Text')

describe('what was typed', () => {
  browserTest('is there after a failure on the server and "Try again"', async ({ open }) => {
    const { page } = await openActions(await open({ allow: [statusComplaint(500), ...FAILED] }), 'on')
    await text(page).fill('half a thought')
    await press(page, 'Fail')
    await heading(page, 'Failed on the server')
    await press(page, 'Try again')
    await heading(page, 'Form')
    await expect.poll(() => text(page).inputValue()).toBe('half a thought')
  })

  browserTest('is there while the network fails for good, and the page stays', async ({ open }) => {
    const { page } = await openActions(await open({ allow: [/ERR_FAILED/, ...FAILED] }), 'on')
    await page.route(isCall, (route) => route.abort())
    await page.getByLabel('note').fill('half a thought')
    await press(page, 'Count')
    await page.getByText('“Count” was not sent.').waitFor()
    await heading(page, 'Form')
    expect(await page.getByLabel('note').inputValue()).toBe('half a thought')
    await page.unroute(isCall)
    await press(page, 'Try again')
    await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
  })

  browserTest('is there when the code for calls does not come', async ({ open }) => {
    const page = await open({ allow: [/ERR_FAILED/, ...FAILED] })
    await page.route('**/_m/assets/call-action-*.js', (route) => route.abort())
    await openActions(page, 'on')
    await page.getByLabel('note').fill('half a thought')
    await press(page, 'Count')
    await heading(page, 'Failed on the client')
    await press(page, 'Try again')
    await heading(page, 'Form')
    await expect.poll(() => page.getByLabel('note').inputValue()).toBe('half a thought')
  })

  browserTest(
    'has been sent once when another build has been deployed, and its result is there to be read',
    async ({ open, deployment, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      await openActions(page, 'on')
      await text(page).fill('half a thought')
      deployment.deploy(next)
      const documents = recordDocuments(page)
      await press(page, 'Count')
      await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
      expect(documents).toEqual([])
      // Nobody looks: now the page may go.
      await page.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
        document.dispatchEvent(new Event('visibilitychange'))
      })
      await page.locator('html[data-edition="2"]').waitFor()
      await expect.poll(() => text(page).inputValue()).toBe('half a thought')
      expect(await page.getByTestId('ran').innerText()).toBe('count')
    },
  )

  browserTest(
    'has been sent once when another build has been deployed, and the page shows it anew where there is no result',
    async ({ open, deployment, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      const { path } = await openActions(page, 'on')
      await text(page).fill('half a thought')
      // No draft keeps it: the page waits for it.
      await page.getByLabel('password').fill('hunter2')
      deployment.deploy(next)
      const documents = recordDocuments(page)
      for (let call = 0; call < 2; call += 1) {
        const answered = page.waitForResponse((response) => isCall(new URL(response.url())))
        await press(page, 'Quiet')
        await (await answered).finished()
      }
      // The page looks a moment after an answer whether it may go; a later timer of the same length comes behind that.
      await page.evaluate(() => new Promise((done) => setTimeout(done, 200)))
      expect(documents).toEqual([])
      await page.getByLabel('password').fill('')
      await press(page, 'Remove')
      await page.locator('html[data-edition="2"]').waitFor()
      await expect.poll(() => text(page).inputValue()).toBe('half a thought')
      expect(await page.getByTestId('ran').innerText()).toBe('quiet, quiet, removed 7')
      expect(documents).toEqual([path])
    },
  )

  browserTest(
    'has been sent when another build has been deployed, and leads where the action redirects to',
    async ({ open, deployment, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      await openActions(page, 'on')
      deployment.deploy(next)
      await press(page, 'Enter')
      await heading(page, 'Home')
      await page.locator('html[data-edition="2"]').waitFor()
    },
  )

  browserTest('is there when the server does not know the action, and one document is loaded', async ({ open }) => {
    const { page, path } = await openActions(await open({ allow: [statusComplaint(404)] }), 'on')
    await page.getByLabel('note').fill('half a thought')
    await page.route(
      isCall,
      (route) =>
        route.continue({
          url: route
            .request()
            .url()
            .replace(/_action=[^&]+/, '_action=former'),
        }),
      { times: 1 },
    )
    const documents = recordDocuments(page)
    const loaded = page.waitForEvent('load')
    await press(page, 'Count')
    await loaded
    await expect.poll(() => page.getByLabel('note').inputValue()).toBe('half a thought')
    expect(documents).toEqual([path])
  })

  browserTest('is there after a refusal, and the focus is on the first wrong field', async ({ open }) => {
    const { page } = await openActions(await open({ allow: [statusComplaint(422)] }), 'on')
    await page.getByLabel('name', { exact: true }).fill('ann')
    await page.getByLabel('address.city').fill('Rotterdam')
    await press(page, 'Save')
    await page.getByTestId('errors').getByText('is too long').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('address.city')
    await page.getByLabel('name', { exact: true }).fill('annabel')
    await press(page, 'Save')
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name')
    expect(await page.getByLabel('address.city').inputValue()).toBe('Rotterdam')
  })
})
