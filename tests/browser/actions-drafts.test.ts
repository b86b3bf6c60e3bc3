/** What was typed is still there when a form could not be sent. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { actionTest as browserTest, isCall, openActions, press } from '../support/actions-app.ts'
import { statusComplaint } from '../support/page-complaints.ts'
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

  browserTest('is there when the network has failed for good', async ({ open }) => {
    const { page } = await openActions(await open({ allow: [/ERR_FAILED/, ...FAILED] }), 'on')
    await page.route(isCall, (route) => route.abort())
    await page.getByLabel('note').fill('half a thought')
    await press(page, 'Count')
    await heading(page, 'Failed on the client')
    await page.unroute(isCall)
    await press(page, 'Try again')
    await heading(page, 'Form')
    await expect.poll(() => page.getByLabel('note').inputValue()).toBe('half a thought')
    await press(page, 'Count')
    await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
  })

  browserTest('is there when the code for calls does not come', async ({ open }) => {
    const { page } = await openActions(await open({ allow: [/ERR_FAILED/, ...FAILED] }), 'on')
    await page.route('**/_m/assets/call-action-*.js', (route) => route.abort())
    await page.getByLabel('note').fill('half a thought')
    await press(page, 'Count')
    await heading(page, 'Failed on the client')
    await press(page, 'Try again')
    await heading(page, 'Form')
    await expect.poll(() => page.getByLabel('note').inputValue()).toBe('half a thought')
  })

  browserTest(
    'is there when another build has been deployed, and one document is loaded',
    async ({ open, deployment, next }) => {
      const page = await open({
        allow: [statusComplaint(409), ...FAILED],
        context: { baseURL: deployment.origin },
      })
      const { path } = await openActions(page, 'on')
      await page.getByLabel('note').fill('half a thought')
      deployment.deploy(next)
      const documents = recordDocuments(page)
      await press(page, 'Count')
      await page.locator('html[data-edition="2"]').waitFor()
      await expect.poll(() => page.getByLabel('note').inputValue()).toBe('half a thought')
      expect(documents).toEqual([path])
      await press(page, 'Count')
      await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
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
