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
  const listeners: { sent?: number } = {}
  const state = { screen: { href: '/orders' }, former: false }
  const page = createFormerPage(
    {
      window,
      listeners,
      leave: (href: string, kind: string) => void left.push(`${kind} ${href}`),
      now: () => Date.now(),
    } as never,
    state as never,
  )
  return {
    ...page,
    left,
    listeners,
    leaveUser: () => document.dispatchEvent(new Event('millrace:former')),
    comeBack: () => document.dispatchEvent(new CustomEvent('millrace:back', { detail: false })),
  }
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

test('not while a call of the page is on its way: its answer may bring the session', () => {
  const page = createPage()
  page.listeners.sent = 1
  page.leaveUser()
  page.replace()
  vi.advanceTimersByTime(1_500)
  expect(page.left).toEqual([])
  page.listeners.sent = 0
  vi.advanceTimersByTime(50)
  expect(page.left).toEqual(['refresh /orders'])
})

test('nor at all if that brings the user back', () => {
  const page = createPage()
  page.listeners.sent = 1
  page.leaveUser()
  page.replace()
  page.comeBack()
  vi.advanceTimersByTime(30_000)
  expect(page.left).toEqual([])
})

test('but no later than three seconds for a call that takes long', () => {
  const page = createPage()
  page.listeners.sent = 1
  page.leaveUser()
  page.replace()
  vi.advanceTimersByTime(2_999)
  expect(page.left).toEqual([])
  vi.advanceTimersByTime(51)
  expect(page.left).toEqual(['refresh /orders'])
})
