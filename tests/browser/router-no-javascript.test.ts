import { isSameDocument, untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { LAB_GROUPS, type LabEntry } from '../../src/app/lab/catalogue.ts'
import { browserTest } from '../support/browser.ts'

/** Every link of the overview but those to resource routes, which have no heading, in portions. */
const PORTIONS: readonly (readonly [string, readonly LabEntry[]])[] = LAB_GROUPS.filter(
  ({ id }) => id !== 'resources',
).flatMap(({ id, entries }) =>
  Array.from({ length: Math.ceil(entries.length / 8) }, (_, at) => [
    `${id} ${at + 1}`,
    entries.slice(at * 8, at * 8 + 8),
  ]),
)

/** The statuses that some pages are about, and what failures of the lab put on the console. */
const EXPECTED = [
  /responded with a status of (?:401|403|404|500|503) /,
  /on purpose|failed to provide this value/s,
  /^uncaught: $/,
]

/** What the shell has promised is taken back by scripts, or by a refresh. */
const LATE: ReadonlySet<string> = new Set(['/lab/not-found/late', '/lab/crash/late', '/lab/redirect/late'])

/** What fails where it is rendered, or tries again by itself, ends otherwise in the client router; that is tested apart. */
const OTHERWISE: ReadonlySet<string> = new Set([...LATE, '/lab/crash/render', '/lab/flaky/demo?fail=2'])

/** The title, and the heading of those that have one. */
const nameOf = async (page: Page): Promise<string> =>
  [await page.title(), ...(await page.locator('h1').allInnerTexts())].join(': ')

const pathOf = (page: Page): string => new URL(page.url()).pathname

/** Where a link has led. */
interface Place {
  readonly path: string
  readonly name: string
}

const placeOf = async (page: Page): Promise<Place> => ({ path: pathOf(page), name: await nameOf(page) })

/** Follows a link of the overview as a document, and comes back. */
async function followPlainly(page: Page, href: string): Promise<Place & { readonly status: number }> {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().isNavigationRequest()),
    page.locator(`main a[href="${href}"]`).click(),
  ])
  await page.waitForLoadState('domcontentloaded')
  const place = LATE.has(href) ? { path: href, name: '' } : await placeOf(page)
  // Its refresh would otherwise come across the way back.
  if (href === '/lab/redirect/late') await page.waitForURL('/lab/landed', { waitUntil: 'domcontentloaded' })
  await page.goto('/lab', { waitUntil: 'domcontentloaded' })
  return { ...place, status: answer.status() }
}

/** Follows it by the client router until it is where the document was, and comes back. */
async function followAlive(page: Page, href: string, expected: Place): Promise<void> {
  await page.locator(`main a[href="${href}"]`).click()
  await expect.poll(() => placeOf(page), { message: href, timeout: 10_000 }).toEqual(expected)
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Lab', exact: true }).waitFor()
}

describe('the links of the lab without JavaScript', () => {
  browserTest.for(PORTIONS)(
    'lead to the promised statuses, and to the same pages as with it: %s',
    async ([, entries], { open }) => {
      const plain = await open({ javaScript: false, allow: EXPECTED })
      const alive = await open({ allow: EXPECTED })
      await Promise.all([plain.goto('/lab'), alive.goto('/lab')])
      await untilAlive(alive)
      const answered: string[] = []
      let following = Promise.resolve()
      for (const { href } of entries) {
        const { status, ...place } = await followPlainly(plain, href)
        answered.push(`${href} ${status}`)
        await following
        if (!OTHERWISE.has(href)) following = followAlive(alive, href, place)
      }
      await following
      expect(answered).toEqual(
        entries.map(({ href, status = 200 }) => `${href} ${href.startsWith('/lab/flaky/') ? 503 : status}`),
      )
      expect(await isSameDocument(alive)).toBe(true)
    },
  )
})
