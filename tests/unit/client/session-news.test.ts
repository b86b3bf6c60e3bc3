/** What a tab takes for news of sessions of several kinds, whose user may go on by one of them. */
import { expect, test, vi } from 'vitest'
import { mergeMarks } from '../../../src/shared/protocol/session-marks.ts'
import { createSessionNews, takeChanges } from '../../../src/client/core/page/session-news.ts'

/** A tab whose document was made for these sessions. */
function tabOf(marks: string) {
  const document = new EventTarget()
  const kept = new Map<string, string>()
  const localStorage = {
    getItem: (key: string) => kept.get(key),
    setItem: (key: string, value: string) => kept.set(key, value),
  }
  const window = Object.assign(new EventTarget(), { document, localStorage })
  const channel = Object.assign(new EventTarget(), { postMessage: vi.fn<(text: string) => void>() })
  const judge = vi.fn<(news: string, isCall?: boolean) => void>()
  const former = vi.fn<() => void>()
  document.addEventListener('millrace:former', former)
  const news = createSessionNews({ window, channel, marks: mergeMarks('', marks), isFromCache: false, judge } as never)
  const hear = (data: string): unknown => channel.dispatchEvent(Object.assign(new Event('message'), { data }))
  const asks = vi.fn<(data: unknown) => void>()
  channel.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<unknown>
    if (Array.isArray(data)) asks(data)
  })
  return { ...news, news, asks, former, judge, hear, channel, window, kept: () => kept.get('millrace:sessions') }
}

test.for([
  ['account:a.ann basket:b.any', 'account:- basket:b.any', 1],
  ['basket:b.any~account:+', 'basket:b.any~account:-', 1],
  ['account:a.ann~basket:+', 'account:a.ann~basket:-', 1],
  ['account:a.ann', 'account:n.ann', 0],
  ['account:-', 'account:a.ann', 0],
  ['account:a.ann', 'account:a.ann basket:b.any', 0],
] as const)(
  'a page of %s that learns %s: whether its user has left is said by no other kind of session',
  ([marks, told, leaves]) => {
    const { learn, former } = tabOf(marks)
    learn(told, true, Infinity, true)
    expect(former).toHaveBeenCalledTimes(leaves)
  },
)

test('a late answer to a call tells of the session that it has begun, and not how the others were before', () => {
  const { learn, hear, former, news } = tabOf('account:-~basket:-')
  const before = Date.now() - 1_000
  hear('account:-\naccount:a.ann')
  learn('account:-~basket:+', true, before)
  expect(former).not.toHaveBeenCalled()
  expect(news.marks()).toContain('account:a.ann')
  expect(news.marks()).toContain('basket:+')
})

test('a page whose stream is refused asks the server, if it has opened a session', () => {
  const { asks, follow, former } = tabOf('account:a.ann')
  follow(undefined, Date.now())
  expect(asks.mock.calls).toEqual([[['/*', true]]])
  expect(former).not.toHaveBeenCalled()
  const guest = tabOf('')
  guest.follow(undefined, Date.now())
  expect(guest.asks).not.toHaveBeenCalled()
})

test.for([
  ['account:-', '', 'account:- '],
  ['account:b.bob~basket:+', '', 'account:b.bob ~basket:+ '],
  ['account:-~basket:+', 'account:a.ann', '~basket:+ '],
  ['account:-', 'account:-', undefined],
  ['%', '', undefined],
] as const)('a document takes "%s" from the cookie of an answer and, saying "%s", tells other tabs %s', (row) => {
  const [changed, told, news] = row
  const { window, channel, kept } = tabOf('account:a.ann')
  channel.postMessage.mockClear()
  const name = '__Host-sessions.changed'
  Object.assign(window.document, {
    cookie: `theme=x; ${name}=${changed === '%' ? '%' : encodeURIComponent(changed)}; other=y`,
  })
  takeChanges({ window, channel, marks: mergeMarks('', told) } as never)
  expect(Reflect.get(window.document, 'cookie')).toBe(`${name}=;Path=/;Max-Age=0;Secure`)
  expect(channel.postMessage.mock.calls).toEqual(news === undefined ? [] : [[`account:a.ann \n${news}`]])
  expect(kept()).toContain(mergeMarks('account:a.ann ', news))
  takeChanges({ window, channel, marks: '' } as never)
  expect(channel.postMessage).toHaveBeenCalledTimes(news === undefined ? 0 : 1)
})
