import { untilAlive } from 'millrace/testing'
import { expect } from 'vitest'
import { routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, hold } from '../support/router-page.ts'

const VIEWPORT = { viewport: { width: 640, height: 480 } }

browserTest('the fallback stays until the code has loaded, and nothing around it is hidden', async ({ open }) => {
  const page = await open({ context: VIEWPORT })
  const held = await hold(page, /\/plan-\w+\.js$/)
  await page.goto('/plan')
  await held.asked
  expect(await page.getByTestId('plan').textContent()).toBe('No plan yet')
  expect(await page.getByText('Below the plan').isVisible()).toBe(true)
  held.release()
  const plan = page.getByText('640 wide, zoom 1')
  await plan.click()
  await page.getByText('640 wide, zoom 2').waitFor()
})

browserTest('a page that the client router shows has the children', async ({ open }) => {
  const page = await open({ context: VIEWPORT })
  await page.goto('/')
  await untilAlive(page)
  await clickLink(page, '/plan')
  await heading(page, 'Plan')
  await page.getByText('640 wide, zoom 1').click()
  await page.getByText('640 wide, zoom 2').waitFor()
})

browserTest('without scripts the fallback stays', async ({ open }) => {
  const page = await open({ javaScript: false })
  await page.goto('/plan')
  expect(await page.getByTestId('plan').textContent()).toBe('No plan yet')
})
