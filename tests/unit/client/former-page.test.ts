/** When the page of a user who has left is loaded as a document. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFormerPage } from '../../../src/client/core/navigation/former-page.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function createPage() {
  const document = Object.assign(new EventTarget(), { body: { inert: false }, activeElement: null })
  const window = Object.assign(new EventTarget(), {
    document,
    navigator: { cookieEnabled: true },
    performance: { getEntriesByType: () => [], now: () => Date.now() },
  })
  const left: string[] = []
  const state = { screen: { href: '/orders' }, former: false }
  const page = createFormerPage(
    {
      window,
      listeners: {},
      leave: (href: string, kind: string) => void left.push(`${kind} ${href}`),
      now: () => Date.now(),
    } as never,
    state as never,
  )
  return { ...page, left, leaveUser: () => document.dispatchEvent(new Event('millrace:former')) }
}

test('at once, also after a link that has turned out to be a download', () => {
  const page = createPage()
  page.leave('/invoice.pdf', 'push')
  page.leaveUser()
  page.replace()
  expect(page.left).toEqual(['push /invoice.pdf', 'refresh /orders'])
})

test('not while another document is on its way for the next user', () => {
  const page = createPage()
  page.leaveUser()
  page.leave('/sign-in', 'push')
  page.replace()
  expect(page.left).toEqual(['push /sign-in'])
  vi.advanceTimersByTime(20_000)
  expect(page.left).toEqual(['push /sign-in', 'refresh /orders'])
})
