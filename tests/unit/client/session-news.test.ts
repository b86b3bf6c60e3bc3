/** What a tab takes for news of sessions of several kinds, whose user may go on by one of them. */
import { expect, test, vi } from 'vitest'
import { mergeMarks } from '../../../src/shared/protocol/session-marks.ts'
import { doubtSessions, createSessionNews } from '../../../src/client/core/page/session-news.ts'

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
  ['account:a.ann', '', [['/*', true]]],
  ['account:a.ann', 'basket:b.any', [['/*', true]]],
  ['account:a.ann', 'account:a.ann', undefined],
  ['account:a.ann', 'account:-', undefined],
  ['account:-', '', undefined],
  ['', '', undefined],
] as const)('of a browser with "%s", a document that is redirected to, with "%s", has other tabs ask: %j', (row) => {
  const [remembered, told, asked] = row
  const { window, channel, kept } = tabOf(remembered)
  const before = kept()
  channel.postMessage.mockClear()
  doubtSessions({ window, channel, marks: mergeMarks('', told) } as never)
  expect(channel.postMessage.mock.calls).toEqual(asked === undefined ? [] : [asked])
  // It takes the session for ended, and that is no news.
  expect(kept()).toBe(asked === undefined ? before : before?.replace('account:a.ann', 'account:-'))
})
