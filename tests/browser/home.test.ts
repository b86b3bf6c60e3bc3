import { describe, expect } from 'vitest'
import { browserTest, JAVASCRIPT } from '../support/browser.ts'

/** Crawlers and headless browsers get the page as a whole, so that nothing waits for a stream that nobody watches. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

describe.for(JAVASCRIPT)('home, JavaScript $name', ({ javaScript }) => {
  browserTest('the page shows its own stream, and one file of the example at a time', async ({ open }) => {
    const page = await open({ javaScript, context: { userAgent } })
    const answer = await page.goto('/', { waitUntil: 'commit' })
    expect(answer?.status()).toBe(200)
    await page.locator('h1').waitFor()
    expect(await page.locator('h1').count()).toBe(1)

    // Where scripts do not run, the last part is at the end of the body and is shown over the place that waits for it.
    const rest = page.getByTestId('rest').filter({ hasText: /^[\d,]+ ms$/ })
    await rest.waitFor()
    const panel = await page.getByRole('region', { name: 'GET /' }).boundingBox()
    const arrived = await rest.boundingBox()
    expect(Number((await rest.textContent())?.replaceAll(/\D/g, ''))).toBeGreaterThanOrEqual(999)
    expect(arrived?.y).toBeGreaterThan(panel?.y ?? Number.NaN)
    expect(arrived?.y).toBeLessThan((panel?.y ?? 0) + (panel?.height ?? 0))
    const sent = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--shell-sent'))
    expect(sent).toMatch(/^"\d+ ms"$/)

    const code = (name: string) => page.getByRole('group', { name }).locator('pre:visible')
    expect(await code('File').textContent()).toContain('export default function MillPage')
    await page.getByText('loader.server.ts', { exact: true }).click()
    expect(await code('File').textContent()).toContain('export async function loader')
  })
})

browserTest('the page says when its first and its last byte have come', async ({ open }) => {
  const page = await open({ context: { userAgent } })
  await page.goto('/')
  const times = page.getByTestId('browser-times').filter({ hasText: 'first byte after' })
  await times.waitFor()
  const [first = 0, last = 0] =
    ((await times.textContent()) ?? '').match(/[\d,]+(?= ms)/g)?.map((text) => Number(text.replaceAll(',', ''))) ?? []
  expect(last - first).toBeGreaterThan(500)
})

browserTest('the page of the example answers its form, with JavaScript and without', async ({ open }) => {
  for (const { javaScript } of JAVASCRIPT) {
    const page = await open({ javaScript })
    await page.goto('/lab/mills/upper')
    expect(await page.getByTestId('level').textContent()).toBe('The gauge shows 118 cm.')
    await page.getByLabel('Litres').fill('100')
    await page.getByRole('button', { name: 'Estimate' }).click()
    await page.getByText('2.2 kW at the wheel').waitFor()
  }
})
