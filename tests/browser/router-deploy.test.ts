import { isSameDocument, untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { OUTDATED, routerTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, hold, pathOf, recordData, recordDocuments } from '../support/router-page.ts'

describe('another build is deployed', () => {
  browserTest(
    'before a click: one document load, and the router goes on by itself',
    async ({ open, deployment, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      await page.goto('/')
      await untilAlive(page)
      deployment.deploy(next)
      const documents = recordDocuments(page)
      await clickLink(page, '/mills/1')
      await heading(page, 'Mill 1')
      await page.locator('html[data-edition="2"]').waitFor()
      await untilAlive(page)
      await clickLink(page, '/mills/2')
      await heading(page, 'Mill 2')
      expect(documents).toEqual(['/mills/1'])
      expect(await isSameDocument(page)).toBe(true)
    },
  )

  browserTest(
    'during a navigation: its answer is of the other build, and one document is loaded',
    async ({ open, deployment, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      await page.goto('/')
      await untilAlive(page)
      const held = await hold(page, /_m\/data\/mills\/1/)
      const documents = recordDocuments(page)
      await clickLink(page, '/mills/1')
      await held.asked
      deployment.deploy(next)
      held.release()
      await heading(page, 'Mill 1')
      await page.locator('html[data-edition="2"]').waitFor()
      expect(pathOf(page)).toBe('/mills/1')
      await untilAlive(page)
      await page.goBack()
      await heading(page, 'Home')
      // The former page came from a document of the former build.
      expect(documents).toEqual(['/mills/1', '/'])
    },
  )

  browserTest('before the code of a navigation: one document is loaded', async ({ open, deployment, next }) => {
    const page = await open({
      allow: [/Failed to load (?:script|stylesheet): /, ...OUTDATED, /responded with a status of 404 /, /preload/],
      context: { baseURL: deployment.origin },
    })
    await page.goto('/')
    await untilAlive(page)
    const held = await hold(page, /picture-page-[^/]*\.js$/)
    const documents = recordDocuments(page)
    await clickLink(page, '/gallery/wheel')
    await held.asked
    deployment.deploy(next)
    held.release()
    await heading(page, 'The wheel')
    await page.locator('html[data-edition="2"]').waitFor()
    expect(documents).toEqual(['/gallery/wheel'])
  })

  browserTest(
    'while servers of both builds answer in turn: never a loop',
    async ({ open, deployment, server, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      await page.goto('/')
      await untilAlive(page)
      // Documents come from the former server for as long as data comes from the new one.
      await page.route(/_m\/data\//, (route) =>
        route.continue({ url: route.request().url().replace(deployment.origin, next.origin) }),
      )
      const documents = recordDocuments(page)
      await clickLink(page, '/mills/1')
      await heading(page, 'Mill 1')
      await page.waitForLoadState('networkidle')
      expect(documents).toEqual(['/mills/1'])
      expect(server.origin).not.toBe(next.origin)
    },
  )

  browserTest(
    'what was typed is still there after the load, except for what must not be kept',
    async ({ open, deployment, next }) => {
      const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
      await page.goto('/editor')
      await untilAlive(page)
      await page.getByLabel('Note').fill('half a thought')
      await page.getByLabel('Password').fill('secret')
      deployment.deploy(next)
      const documents = recordDocuments(page)
      await clickLink(page, 'Second tab')
      await page.locator('html[data-edition="2"]').waitFor()
      expect(pathOf(page)).toBe('/editor?tab=2')
      await expect.poll(() => page.getByLabel('Note').inputValue()).toBe('half a thought')
      expect(await page.getByLabel('Password').inputValue()).toBe('')
      expect(documents).toEqual(['/editor?tab=2'])
    },
  )

  browserTest('nothing is fetched ahead any more once an answer has told of it', async ({ open, deployment, next }) => {
    const page = await open({ allow: OUTDATED, context: { baseURL: deployment.origin } })
    await page.goto('/preview')
    await untilAlive(page)
    deployment.deploy(next)
    await page.getByRole('button', { name: 'Read /mills/1' }).click()
    await page.getByTestId('failed').getByText('yes').waitFor()
    const asked = recordData(page)
    const documents = recordDocuments(page)
    await clickLink(page, '/mills/2')
    await heading(page, 'Mill 2')
    expect(asked).toEqual([])
    expect(documents).toEqual(['/mills/2'])
  })
})
