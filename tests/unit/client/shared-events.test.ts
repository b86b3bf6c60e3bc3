import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSharedEvents, type EventsWorld } from '../../../src/client/hooks/shared-events.ts'

/** A connection that a test opens, breaks and speaks through. */
class FakeSource extends EventTarget {
  readyState = 0
  readonly url: string

  constructor(url: string) {
    super()
    this.url = url
  }

  close(): void {
    this.readyState = 2
  }

  open(): void {
    this.readyState = 1
    this.dispatchEvent(new Event('open'))
  }

  /** As after a refusal, when the browser gives up. */
  refuse(): void {
    this.readyState = 2
    this.dispatchEvent(new Event('error'))
  }

  /** As after a lost connection, when the browser connects again by itself. */
  lose(): void {
    this.readyState = 0
    this.dispatchEvent(new Event('error'))
  }

  say(name: string, data: string, lastEventId = ''): void {
    this.dispatchEvent(Object.assign(new Event(name), { data, lastEventId }))
  }
}

function fakeTab() {
  const sources: FakeSource[] = []
  const waiting: { readonly ms: number; readonly run: () => void }[] = []
  const reported: unknown[] = []
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  const listen = createSharedEvents({
    document: document as unknown as EventsWorld['document'],
    connect(url) {
      const source = new FakeSource(url)
      sources.push(source)
      return source as unknown as EventSource
    },
    after(ms, run) {
      const entry = { ms, run }
      waiting.push(entry)
      return () => {
        if (waiting.includes(entry)) waiting.splice(waiting.indexOf(entry), 1)
      }
    },
    random: () => 1,
    report: (error) => void reported.push(error),
  })
  const listener = (...names: string[]) => ({
    names,
    hear: vi.fn<(name: string, data: unknown, id: string) => void>(),
    hearUsers: vi.fn<(marks: string | undefined, askedAt: number) => unknown>(),
    connected: vi.fn<(isOpen: boolean) => void>(),
  })
  const show = (visibilityState: DocumentVisibilityState): void => {
    document.visibilityState = visibilityState
    document.dispatchEvent(new Event('visibilitychange'))
  }
  const openSources = (): number => sources.filter(({ readyState }) => readyState !== 2).length
  return { sources, waiting, reported, document, listen, listener, show, openSources }
}

test('what a stream begins with is spread where the server has closed many, and not where this tab has opened it', () => {
  const { sources, listen, listener, show } = fakeTab()
  const one = listener()
  const told = (): unknown => one.hear.mock.calls.map(([, data]) => (data as { spread: number }).spread)
  const say = (at: number): void => sources[at]?.say('millrace:drops', '{"targets":{"guestbook":1},"spread":8000}')
  listen('/events', one)
  say(0)
  say(0)
  sources[0]?.lose()
  sources[0]?.open()
  say(0)
  show('hidden')
  show('visible')
  say(1)
  expect(told()).toEqual([0, 8000, 8000, 0])
})

test('events of the server may have the names of those of the connection', () => {
  const { sources, reported, waiting, listen, listener } = fakeTab()
  const one = listener('open', 'error', 'message', 'close')
  listen('/events', one)
  sources[0]?.open()
  one.connected.mockClear()
  for (const name of ['open', 'error', 'message', 'close']) sources[0]?.say(name, `"${name}"`, 'x')
  expect(one.hear.mock.calls).toEqual(['open', 'error', 'message', 'close'].map((name) => [name, name, 'x']))
  expect(one.connected).not.toHaveBeenCalled()
  sources[0]?.refuse()
  expect([one.hear.mock.calls.length, one.connected.mock.calls, reported]).toEqual([4, [[false]], []])
  waiting[0]?.run()
  sources[1]?.open()
  expect([sources[1]?.url, one.connected.mock.lastCall, reported]).toEqual(['/events?lastEventId=x', [true], []])
})

describe('listeners of one URL', () => {
  test('share a connection, and each hears the events it has named', () => {
    const { sources, listen, listener } = fakeTab()
    const [one, other] = [listener('a', 'both'), listener('b', 'both')]
    listen('/events', one)
    listen('/events', other)
    expect(sources).toHaveLength(1)
    sources[0]?.say('a', '1', 'x')
    sources[0]?.say('b', '2')
    sources[0]?.say('both', '{"n":3}')
    expect(one.hear.mock.calls).toEqual([
      ['a', 1, 'x'],
      ['both', { n: 3 }, ''],
    ])
    expect(other.hear.mock.calls).toEqual([
      ['b', 2, ''],
      ['both', { n: 3 }, ''],
    ])
  })

  test('drop what the server drops once, not each for itself', () => {
    const { sources, listen, listener } = fakeTab()
    const all = [listener(), listener(), listener()]
    for (const one of all) listen('/events', one)
    sources[0]?.say('millrace:drops', '{"targets":{"guestbook":1},"spread":0}')
    expect(all.map(({ hear }) => hear.mock.calls.length)).toEqual([1, 0, 0])
  })

  test('are told whether it is open, those that come later too', () => {
    const { sources, listen, listener } = fakeTab()
    const [one, late] = [listener('a'), listener('a')]
    listen('/events', one)
    expect(one.connected).toHaveBeenLastCalledWith(false)
    sources[0]?.open()
    expect(one.connected).toHaveBeenLastCalledWith(true)
    listen('/events', late)
    expect(late.connected).toHaveBeenLastCalledWith(true)
    sources[0]?.lose()
    expect(late.connected).toHaveBeenLastCalledWith(false)
  })

  test('close it with the last of them', () => {
    const { listen, listener, openSources, sources } = fakeTab()
    const leave = [listener('a'), listener('a')].map((one) => listen('/events', one))
    leave[0]?.()
    expect(openSources()).toBe(1)
    leave[1]?.()
    expect(openSources()).toBe(0)
    listen('/events', listener('a'))
    expect(sources).toHaveLength(2)
  })

  test('of another URL have a connection of their own', () => {
    const { sources, listen, listener } = fakeTab()
    listen('/events', listener('a'))
    listen('/others', listener('a'))
    expect(sources.map(({ url }) => url)).toEqual(['/events', '/others'])
  })
})

test('a hidden tab does not listen, and begins after the last event when it is shown', () => {
  const { sources, listen, listener, show, openSources } = fakeTab()
  listen('/events?of=me', listener('a'))
  sources[0]?.say('a', '1', '4&2')
  show('hidden')
  expect(openSources()).toBe(0)
  show('visible')
  expect(sources.map(({ url }) => url)).toEqual(['/events?of=me', '/events?of=me&lastEventId=4%262'])
})

test('a tab that was opened in the background does not connect before it is shown', () => {
  const { sources, listen, listener, show } = fakeTab()
  show('hidden')
  listen('/events', listener('a'))
  expect(sources).toHaveLength(0)
  show('visible')
  expect(sources).toHaveLength(1)
})

test('a refused connection is tried again, ever later, until one is accepted', () => {
  const { sources, waiting, listen, listener } = fakeTab()
  listen('/events', listener('a'))
  const delays: number[] = []
  for (let times = 0; times < 8; times += 1) {
    sources.at(-1)?.refuse()
    const [next] = waiting.splice(0)
    delays.push(next?.ms ?? 0)
    next?.run()
  }
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  sources.at(-1)?.open()
  sources.at(-1)?.refuse()
  expect(waiting.map(({ ms }) => ms)).toEqual([1_000])
})

test('one listener is told that a connection is refused that was open, once: the session of the page may have ended', () => {
  const { sources, waiting, listen, listener } = fakeTab()
  const [one, other] = [listener('a'), listener('b')]
  listen('/events', one)
  listen('/events', other)
  sources[0]?.refuse()
  expect(one.hearUsers).not.toHaveBeenCalled()
  waiting.splice(0)[0]?.run()
  sources[1]?.open()
  sources[1]?.lose()
  sources[1]?.refuse()
  expect(one.hearUsers.mock.calls).toEqual([[undefined, expect.any(Number)]])
  waiting.splice(0)[0]?.run()
  sources[2]?.refuse()
  expect(one.hearUsers).toHaveBeenCalledTimes(1)
  expect(other.hearUsers).not.toHaveBeenCalled()
})

test('a lost connection is left to the browser', () => {
  const { sources, waiting, listen, listener } = fakeTab()
  listen('/events', listener('a'))
  sources[0]?.open()
  sources[0]?.lose()
  expect([sources.length, waiting.length]).toEqual([1, 0])
})

test('nothing is tried again for a tab that is hidden, or when nobody listens any more', () => {
  const { sources, waiting, listen, listener, show } = fakeTab()
  const leave = listen('/events', listener('a'))
  sources[0]?.refuse()
  show('hidden')
  expect(waiting).toEqual([])
  show('visible')
  sources[1]?.refuse()
  leave()
  expect(waiting).toEqual([])
  show('hidden')
  show('visible')
  expect(sources).toHaveLength(2)
})

test('data that cannot be read is reported, and later events are heard', () => {
  const { sources, reported, listen, listener } = fakeTab()
  const one = listener('a')
  listen('/events', one)
  sources[0]?.say('a', 'garbage')
  sources[0]?.say('a', '1')
  expect(reported).toHaveLength(1)
  expect(one.hear.mock.calls).toEqual([['a', 1, '']])
})

test('the tab has another session: the stream is opened anew, unless it is hidden or nobody listens any more', () => {
  const { sources, document, listen, listener, show, openSources } = fakeTab()
  const change = (): boolean => document.dispatchEvent(new Event('millrace:session'))
  const one = listener('news')
  const leave = listen('/events', one)
  sources[0]?.open()
  sources[0]?.say('news', '1', 'id-1')
  change()
  expect([sources.length, openSources(), sources[1]?.url]).toEqual([2, 1, '/events'])
  expect(one.connected.mock.calls.at(-1)).toEqual([false])
  show('hidden')
  change()
  expect(openSources()).toBe(0)
  show('visible')
  leave()
  change()
  expect(openSources()).toBe(0)
})

describe('the users of a stream', () => {
  const MARKS = '"visitor:a.b"'

  test('are told to one listener, with the time at which it may have been asked for, and are no event', () => {
    vi.useFakeTimers({ now: 1_000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { sources, listen, listener } = fakeTab()
    const [one, other] = [listener('tick'), listener('tick')]
    for (const each of [one, other]) listen('/events', each)
    vi.setSystemTime(2_000)
    sources[0]?.say('millrace:sessions', MARKS)
    sources[0]?.lose()
    vi.setSystemTime(3_000)
    sources[0]?.say('millrace:sessions', MARKS)
    expect(one.hearUsers.mock.calls).toEqual([
      ['visitor:a.b', 1_000],
      ['visitor:a.b', 2_000],
    ])
    for (const unused of [one.hear, other.hear, other.hearUsers]) expect(unused).not.toHaveBeenCalled()
  })

  test('are compared before anything of theirs is heard, and nothing is heard if nobody can', async () => {
    const { sources, listen, listener, document } = fakeTab()
    const one = listener('tick')
    const { promise, resolve } = Promise.withResolvers<undefined>()
    one.hearUsers.mockReturnValueOnce(promise)
    listen('/events', one)
    sources[0]?.say('millrace:sessions', MARKS)
    for (let at = 0; at < 200; at += 1) sources[0]?.say('tick', String(at), `n${at}`)
    await new Promise(setImmediate)
    expect(one.hear).not.toHaveBeenCalled()
    resolve(undefined)
    await new Promise(setImmediate)
    expect(one.hear.mock.calls.map(([, data]) => data)).toEqual(Array.from({ length: 100 }, (_, at) => at))
    // The others are asked for.
    expect(sources[1]?.url).toBe('/events?lastEventId=n99')
    one.hear.mockClear()
    const failing = Promise.withResolvers<undefined>()
    one.hearUsers.mockReturnValueOnce(failing.promise)
    document.dispatchEvent(new CustomEvent('millrace:session', { detail: true }))
    sources[2]?.say('millrace:sessions', MARKS)
    failing.reject(new Error('not loaded'))
    await new Promise(setImmediate)
    sources[2]?.say('tick', '1')
    expect(one.hear).not.toHaveBeenCalled()
  })

  test.each([
    [false, 1],
    [true, 2],
  ])('that turn out to be different ones: %s: need %i connections', async (detail, connections) => {
    const { sources, document, listen, listener } = fakeTab()
    const one = listener()
    one.hearUsers.mockImplementation(() => document.dispatchEvent(new CustomEvent('millrace:session', { detail })))
    listen('/events', one)
    sources[0]?.say('millrace:sessions', MARKS)
    expect(sources).toHaveLength(connections)
    await Promise.resolve()
    document.dispatchEvent(new CustomEvent('millrace:session', { detail: false }))
    expect(sources).toHaveLength(connections + 1)
  })
})
