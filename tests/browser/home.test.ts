import { describe, expect } from 'vitest'
import { browserTest, JAVASCRIPT } from '../support/browser.ts'

describe.for(JAVASCRIPT)('home, JavaScript $name', ({ javaScript }) => {
  browserTest('the first page is there, whole and without a complaint', async ({ open }) => {
    const page = await open({ javaScript })
    const answer = await page.goto('/', { waitUntil: 'networkidle' })
    expect(answer?.status()).toBe(200)
    expect(await page.title()).not.toBe('')
    expect(await page.locator('h1').count()).toBe(1)
    expect(await page.locator('h1').isVisible()).toBe(true)
  })
})
