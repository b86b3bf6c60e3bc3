import { isSameDocument, untilAlive } from 'millrace/testing'
import { describe, expect } from 'vitest'
import { sealedTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading } from '../support/router-page.ts'
import { INTEGRITY_COMPLAINTS, isTampered, tamper } from '../support/tampering.ts'

const PICTURE_SCRIPT = /picture-page-[^/]*\.js$/

describe('with integrity for all scripts, and trusted types', () => {
  browserTest('pages come alive, and their routes are loaded as ever', async ({ open }) => {
    const page = await open()
    const answer = await page.goto('/')
    expect(answer?.headers()['content-security-policy']).toContain("; require-trusted-types-for 'script'")
    expect(answer?.headers()['link'] ?? '').not.toContain('modulepreload')
    await untilAlive(page)
    await clickLink(page, '/gallery/wheel')
    await heading(page, 'The wheel')
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest('a route that somebody has tampered with does not run, now or after the reload', async ({ open }) => {
    const page = await open({
      allow: [...INTEGRITY_COMPLAINTS, /^console\.error: Failed to load script/, /^uncaught: /],
    })
    await page.goto('/')
    await untilAlive(page)
    await tamper(page, PICTURE_SCRIPT)
    const refused = page.waitForEvent('console', (message) => /integrity|digest/i.test(message.text()))
    await clickLink(page, '/gallery/wheel')
    await refused
    await heading(page, 'The wheel')
    expect(await isTampered(page)).toBe(false)
  })
})
