/** `RENEW_SCREENSHOTS=1 npm test -- og-image` draws `og:image` anew. */
import { readFile, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { drawOgImage, OG_IMAGE, ogText, textInPng } from '../support/og-image.ts'

browserTest('og:image is what is drawn today', async ({ browser }) => {
  const text = await ogText()
  const drawn = await drawOgImage(browser, text)
  if (process.env['RENEW_SCREENSHOTS'] === '1') await writeFile(OG_IMAGE, drawn)
  const committed = await readFile(OG_IMAGE)
  expect(textInPng(committed)).toBe(textInPng(drawn))
  expect([committed.readUInt32BE(16), committed.readUInt32BE(20)]).toEqual([1_200, 630])
})
