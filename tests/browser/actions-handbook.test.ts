/** The example of the handbook, as it is printed there, in a browser. */
import { expect } from 'vitest'
import { actionTest as browserTest, press } from '../support/actions-app.ts'
import { JAVASCRIPT } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'

browserTest.for(JAVASCRIPT)('the example of the handbook works, JavaScript $name', async ({ javaScript }, { open }) => {
  const page = await open({ javaScript, allow: [statusComplaint(422)] })
  await page.goto('/subscribe')
  if (javaScript) await page.waitForFunction(() => history.state?.millrace !== undefined)
  await page.getByLabel('Your address').fill('nowhere')
  await press(page, 'Subscribe')
  await page.getByText('Enter a valid e-mail address.').waitFor()
  expect(await page.getByLabel('Your address').inputValue()).toBe('nowhere')
  await page.getByLabel('Your address').fill('ada@example.test')
  await press(page, 'Subscribe')
  await page.getByText('Welcome, ada@example.test.').waitFor()
})
