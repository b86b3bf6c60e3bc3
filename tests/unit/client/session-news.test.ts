/** What a tab takes for news of sessions of several kinds, whose user may go on by one of them. */
import { expect, test, vi } from 'vitest'
import { changesOf, mergeMarks } from '../../../src/shared/protocol/session-marks.ts'
import { createSessionNews } from '../../../src/client/core/page/session-news.ts'

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
  return { ...news, news, former, judge, hear, channel }
}

test.for([
  // One that has expired, beside one of the same user that goes on.
  ['account:a.ann brief:b.ann', 'account:a.ann brief:-', false, 0],
  ['account:a.ann brief:b.ann', 'brief:-', false, 0],
  ['account:a.ann brief:b.ann', 'account:n.ann brief:-', false, 0],
  ['account:a.ann~brief:+.ann', '~brief:-', true, 0],
  ['account:- pending:b.ann', 'account:n.ann pending:-', true, 0],
  // Both, or nothing is known of a user who goes on.
  ['account:a.ann brief:b.ann', 'account:- brief:-', false, 1],
  ['account:a.ann brief:b.ann', 'account:x.bob brief:-', false, 1],
  ['account:a.ann brief:b.ann', 'account:a.ann brief:x.bob', false, 1],
  ['account:- brief:b.ann', 'account:- brief:-', false, 1],
  ['brief:b.ann', 'account:x.bob brief:-', false, 1],
  ['account:a.ann', 'account:-', false, 1],
  // What goes on need not be a user's.
  ['account:a.ann basket:b.any', 'account:- basket:b.any', false, 1],
  ['basket:b.any~account:+', 'basket:b.any~account:-', true, 1],
] as const)('a page of %s that learns %s; by a sign-out: %s', ([marks, told, hasLeft, leaves]) => {
  const { learn, former } = tabOf(marks)
  learn(told, false, Infinity, hasLeft)
  expect(former).toHaveBeenCalledTimes(leaves)
})

test('of two sessions that expire one after the other, the last one ends the page', () => {
  const { learn, former } = tabOf('account:a.ann brief:b.ann')
  learn('brief:-', false, Infinity)
  expect(former).not.toHaveBeenCalled()
  learn('account:-', false, Infinity)
  expect(former).toHaveBeenCalledOnce()
})

test('one that has expired may begin again', () => {
  const { learn, former } = tabOf('account:a.ann brief:b.ann')
  for (const told of ['brief:-', 'brief:n.ann', 'brief:-']) learn(told, false, Infinity)
  expect(former).not.toHaveBeenCalled()
})

test('a page in another tab goes on, too, if it has opened both', () => {
  const [tab, both, one] = [
    tabOf('account:a.ann brief:b.ann'),
    tabOf('account:a.ann brief:b.ann'),
    tabOf('brief:b.ann'),
  ]
  tab.learn('account:a.ann brief:-', false, Infinity)
  for (const [text] of tab.channel.postMessage.mock.calls) for (const other of [both, one]) other.hear(text)
  expect([both.former.mock.calls.length, one.former.mock.calls.length]).toEqual([0, 1])
})

test('a late answer to a call tells of the session that it has begun, and not how the others were before', () => {
  const { learn, hear, former, news } = tabOf('account:-~basket:-')
  const before = Date.now() - 1_000
  hear('account:-\naccount:a.ann')
  learn('account:-~basket:+', true, before)
  expect(former).not.toHaveBeenCalled()
  expect(news.marks()).toContain('account:a.ann')
  expect(news.marks()).toContain('basket:+')
})

test.for([
  ['basket:one.u1~session:one', 'basket:one.u1~session:-', true],
  ['session:one.u1 admin:one.u1', 'session:one.u1 admin:-', false],
  ['session:one.u1 admin:one.u1', 'session:- admin:-', true],
  ['session:one.u1 admin:-', 'session:- admin:two.u1', false],
  ['session:one.u1 admin:one.u1', 'session:one.u1 admin:two.u2', true],
] as const)('a user of %s has left in %s: %s', ([former, news, hasLeft]) => {
  expect(changesOf(former, news)).toEqual([true, hasLeft])
})
