import { expect, test } from 'vitest'
import { createPrefetcher, type Prefetcher } from '../../../src/client/core/prefetch/prefetcher.ts'

/** A prefetcher for pages of one segment each, whose data never comes. */
function hangingPrefetcher(): { readonly prefetcher: Prefetcher; readonly asked: string[]; readonly given: string[] } {
  const asked: string[] = []
  const given: string[] = []
  const plan = { page: { route: { chain: [] } }, missing: ['page'], joins: new Set(), asksServer: false }
  const prefetcher = createPrefetcher({
    store: {
      plan: () => plan,
      load: (href: string, { signal }: { signal: AbortSignal }) => {
        asked.push(href)
        signal.addEventListener('abort', () => given.push(href))
        return new Promise(() => undefined)
      },
    } as never,
    code: { preload: () => Promise.resolve() } as never,
    origin: 'http://a.test',
    now: () => 0,
    outdated: () => false,
    onChange: () => undefined,
  })
  return { prefetcher, asked, given }
}

const HREFS = Array.from({ length: 30 }, (_, index) => `/${index}`)

test('links that leave the view together take their requests along, and none of them asks on its way out', () => {
  const { prefetcher, asked, given } = hangingPrefetcher()
  for (const href of HREFS) prefetcher.add(href, 'viewport')
  expect(asked).toEqual(['/0', '/1', '/2'])
  prefetcher.cancel(HREFS.slice(0, 28))
  expect(given).toEqual(['/0', '/1', '/2'])
  expect(asked.slice(3)).toEqual(['/28', '/29'])
})

test('a page that is left takes along what was pointed at, and what is in view goes on', () => {
  const { prefetcher, asked, given } = hangingPrefetcher()
  for (const href of HREFS.slice(0, 4)) prefetcher.add(href, 'viewport')
  for (const href of ['/a', '/b', '/c']) prefetcher.add(href, 'intent')
  expect(asked).toEqual(['/0', '/1', '/2', '/a'])
  prefetcher.cancelIntents()
  expect(given).toEqual(['/a'])
  expect(asked).toHaveLength(4)
})
