import { describe, expect, test } from 'vitest'
import { createUnreadAnswers, type UnreadRequest } from '../../../src/server/request/admission/unread-answers.ts'

/** Answers of some clients that may hold 100 bytes together. */
function world() {
  const unread = createUnreadAnswers(100)
  const cut: string[] = []
  function answer(name: string, address: string) {
    const listeners: (() => void)[] = []
    const request = {
      clientAddress: { address },
      record: {},
      res: { socket: { resetAndDestroy: () => cut.push(name) } },
      onFinish: (listener: () => void) => void listeners.push(listener),
    }
    return {
      request: request as unknown as UnreadRequest,
      listeners,
      note: (bytes: number) => unread.note(request as unknown as UnreadRequest, bytes),
      finish: () => listeners.forEach((listener) => listener()),
    }
  }
  return { unread, cut, answer }
}

describe('bytes that wait for readers', () => {
  test('are given back when the answer is over, once', () => {
    const { unread, answer } = world()
    const one = answer('one', '192.0.2.1')
    one.note(40)
    one.note(0)
    one.note(30)
    expect([unread.bytes, one.listeners.length]).toEqual([30, 1])
    one.finish()
    one.finish()
    expect(unread.bytes).toBe(0)
  })

  test('are all of one client while nobody else has any, then a quarter', () => {
    const { unread, cut, answer } = world()
    for (const name of ['one', 'two', 'three', 'four']) answer(name, '192.0.2.1').note(25)
    expect([cut, unread.bytes]).toEqual([[], 100])
    answer('five', '192.0.2.1').note(25)
    expect([cut, unread.bytes]).toEqual([['one'], 100])
    answer('other', '192.0.2.2').note(25)
    expect([cut, unread.bytes]).toEqual([['one', 'two'], 100])
    answer('six', '192.0.2.1').note(1)
    expect([cut, unread.bytes]).toEqual([['one', 'two', 'three', 'four', 'five'], 26])
  })

  test('of a client beyond its share are cut, and first those of one that has more than half', () => {
    const { cut, answer } = world()
    for (const name of ['a1', 'a2']) answer(name, '192.0.2.1').note(35)
    answer('b1', '192.0.2.2').note(25)
    expect(cut).toEqual([])
    answer('b2', '192.0.2.2').note(10)
    expect(cut).toEqual(['a1', 'b1'])
  })

  test('are cut of the client with most when all is taken, and of it what waits longest', () => {
    const { unread, cut, answer } = world()
    const old = answer('a1', '192.0.2.1')
    old.note(20)
    answer('a2', '192.0.2.1').note(20)
    answer('b', '192.0.2.2').note(25)
    answer('c', '192.0.2.3').note(25)
    answer('d', '192.0.2.4').note(15)
    expect([cut, unread.bytes, old.request.record.refused]).toEqual([
      ['a1'],
      85,
      'too many bytes wait for slow readers',
    ])
  })

  test('count anew from when a reader has taken something', () => {
    const { cut, answer } = world()
    const [one, two] = [answer('one', '192.0.2.1'), answer('two', '192.0.2.1')]
    one.note(25)
    two.note(25)
    one.note(0)
    one.note(25)
    answer('three', '192.0.2.1').note(51)
    expect(cut).toEqual(['two'])
  })

  test('of one answer alone are never too many', () => {
    const { unread, cut, answer } = world()
    answer('one', '192.0.2.1').note(1_000)
    expect([cut, unread.bytes]).toEqual([[], 1_000])
  })
})
