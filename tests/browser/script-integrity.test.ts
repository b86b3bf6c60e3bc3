import { isSameDocument, untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { heading } from '../support/router-page.ts'
import { INTEGRITY_COMPLAINTS, isTampered, tamper } from '../support/tampering.ts'

const ENTRY = /\/_m\/assets\/client-[^/]*\.js$/
describe('a script that is not what the build has made', () => {
  browserTest('does not run where a document names it; the page can be read and its links work', async ({ open }) => {
    const page = await open({ allow: INTEGRITY_COMPLAINTS })
    await tamper(page, ENTRY)
    await page.goto('/lab', { waitUntil: 'load' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await isTampered(page)).toBe(false)
    await page.goto('/docs/routes')
    expect(await isTampered(page)).toBe(false)
  })

  browserTest(
    'runs nevertheless where the tag does not say what it must be, so the test can fail',
    async ({ open }) => {
      const page = await open({ allow: INTEGRITY_COMPLAINTS })
      await tamper(page, ENTRY)
      await page.route(/\/lab$/, async (route) => {
        const response = await route.fetch()
        const body = (await response.text()).replaceAll(/ integrity="[^"]*"/g, '')
        const { link: _link, ...headers } = response.headers()
        await route.fulfill({ response, headers, body })
      })
      await page.goto('/lab')
      await expect.poll(() => isTampered(page)).toBe(true)
    },
  )
})

describe('with trusted types, as the reference application has them', () => {
  browserTest('a text cannot become markup, or code', async ({ open }) => {
    const page = await open({ allow: [/TrustedHTML|TrustedScript/] })
    await page.goto('/docs/routes')
    const thrown = await page.evaluate(() => {
      try {
        document.body.innerHTML = '<b>x</b>'
        return 'nothing'
      } catch (error) {
        return String(error)
      }
    })
    expect(thrown).toContain('TrustedHTML')
  })

  browserTest('chapters of the handbook are shown by the client router', async ({ open }) => {
    const page = await open()
    await page.goto('/docs/routes')
    await untilAlive(page)
    await page.locator('a[href="/docs/loaders"]').first().click()
    await page.locator('.prose h2').first().waitFor()
    await heading(page, 'Loaders and deferred data')
    expect(await isSameDocument(page)).toBe(true)
  })
})

browserTest('what a policy keeps from being loaded is told, and stands in the inbox', async ({ open }) => {
  const page = await open({
    allow: [/violates the following Content Security Policy directive/, /^request failed: .*blocked/],
  })
  await page.goto('/lab')
  await page.evaluate(() => {
    const image = document.createElement('img')
    image.src = 'http://127.0.0.1:9/blocked.png?token=secret'
    document.body.append(image)
  })
  const shown = async (): Promise<boolean> => {
    await page.goto('/lab/reports')
    return (await page.content()).includes('The policy has kept http://127.0.0.1:9/blocked.png from img-src')
  }
  await expect.poll(shown).toBe(true)
  expect(await page.content()).not.toContain('token=secret')
})
