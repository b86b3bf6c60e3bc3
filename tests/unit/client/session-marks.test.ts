/** What a tab keeps when the session that it was read for becomes another, or is ended from another device. */
import { expect, test, vi } from 'vitest'
import { writeSessionMarks } from '../../../src/shared/protocol/session-marks.ts'
import { createKnownRoutes } from '../../../src/client/core/data/known-routes.ts'
import { createRouteStore } from '../../../src/client/core/data/route-store.ts'
import { createDraftStarter } from '../../../src/client/core/page/draft-starter.ts'
import { createJournal } from '../../../src/client/core/data/journal.ts'
import { BUILD, createServer, flush, head, segment } from './route-data-server.ts'
import { createWorld, holdTheClock, pages } from './router-world.ts'

holdTheClock()

/** The first line of an answer that was made for a session. */
const headAs = (href: string, sessions: string): object => head(href, { sessions })

/** Visits a page, whose data is its name and the session. */
async function visitAs(world: ReturnType<typeof createWorld>, href: string, marks: string): Promise<void> {
  const before = world.requests.length
  await world.click(href)
  await world.answer(before, headAs(href, marks), segment(`${href}#page`, `${href} ${marks}`))
}

test('an answer for another session drops what other sessions have left, and keeps its own', async () => {
  const world = createWorld()
  await visitAs(world, '/a', 'session:ann')
  await visitAs(world, '/b', 'session:-')
  expect(world.known.answerOf('/a')).toBeUndefined()
  await visitAs(world, '/a', 'session:-')
  expect(world.router.screen.view.data).toEqual({ '/a#page': '/a session:-' })
})

test('a layout that was read for the former session is loaded again before its page is shown', async () => {
  const world = createWorld()
  await world.click('/lab/one')
  await world
    .request(0)
    .done(headAs('/lab/one', 'session:ann'), segment('/lab#layout', 'ann'), segment('/lab/one#page', 1))
  await world.commit()
  await world.click('/lab/two')
  expect(world.request(1).wants).toEqual(['/lab/two#page'])
  await world.request(1).done(headAs('/lab/two', 'session:-'), segment('/lab/two#page', 2))
  expect(world.request(2).wants).toEqual(['/lab#layout'])
  await world.answer(2, headAs('/lab/two', 'session:-'), segment('/lab#layout', 'nobody'))
  expect(world.router.screen.view.data).toEqual({ '/lab#layout': 'nobody', '/lab/two#page': 2 })
})

test('a page that is being loaded for the former session is loaded again, and shown as the new one sees it', async () => {
  const world = createWorld()
  await visitAs(world, '/a', 'session:ann')
  await world.click('/b')
  await world.request(1).send(headAs('/b', 'session:ann'))
  await world.prefetch('/c', 'intent')
  await world.request(2).done(headAs('/c', 'session:bob'), segment('/c#page', 'bob'))
  await world.request(1).done(segment('/b#page', 'ann'))
  expect(world.request(3)).toMatchObject({ href: '/b', wants: ['/b#page'] })
  await world.answer(3, headAs('/b', 'session:bob'), segment('/b#page', 'bob'))
  expect(world.router.screen.view.data).toEqual({ '/b#page': 'bob' })
  expect(world.known.answerOf('/a')).toBeUndefined()
  expect(world.known.answerOf('/c')).toBeDefined()
})

test('answers for the same session and without one drop nothing', async () => {
  const world = createWorld()
  await visitAs(world, '/a', 'session:ann')
  await world.visit('/c')
  await visitAs(world, '/b', 'session:ann')
  for (const href of ['/a', '/b', '/c']) expect(world.known.answerOf(href)).toBeDefined()
})

test('the document’s own session counts as the first', async () => {
  const { requests, fetch } = createServer()
  const now = (): number => Date.now()
  const known = createKnownRoutes(now, () => undefined)
  const nothing = (): void => undefined
  const world = { buildId: BUILD, fetch, now, outdated: nothing, busy: nothing, journal: createJournal() }
  const store = createRouteStore(pages, known, { ...world, sessions: 'session:ann' }, nothing)
  known.keepAnswer('/a', { route: '/a', params: {}, scope: 'path' })
  const loaded = store.load('/b', { signal: new AbortController().signal })
  await flush()
  await requests[0]?.done(headAs('/b', 'session:-'), segment('/b#page', 'b'))
  await loaded
  expect(known.answerOf('/a')).toBeUndefined()
})

test('a session that is named after the page has arrived drops what others have left, and loads the screen again', async () => {
  const { requests, fetch } = createServer()
  const now = (): number => Date.now()
  const known = createKnownRoutes(now, () => undefined)
  const nothing = (): void => undefined
  const again = Promise.withResolvers<void>()
  const mixed = vi.fn<() => Promise<void>>(() => again.promise)
  const world = { buildId: BUILD, fetch, now, outdated: nothing, busy: nothing, journal: createJournal(), mixed }
  const store = createRouteStore(pages, known, world, nothing)
  // Those of a document that was sent before they were known.
  store.learn('session:ann')
  known.keepAnswer('/a', { route: '/a', params: {}, scope: 'path' })
  const loaded = store.load('/b', { signal: new AbortController().signal })
  await flush()
  await requests[0]?.send(head('/b'), segment('/b#page', 'b'))
  await loaded
  expect(known.answerOf('/a')).toBeDefined()
  await requests[0]?.done({ sessions: 'session:bob' })
  expect([known.answerOf('/a'), known.answerOf('/b')]).toEqual([undefined, undefined])
  expect(mixed).toHaveBeenCalledOnce()
  // What else the answer has is not shown before the screen is the new user's.
  expect(store.requests.size).toBe(1)
  again.resolve()
  await flush()
  expect(store.requests.size).toBe(0)
})

test.for([
  ['session:ann', 'session:ann~basket:+', '~basket:+'],
  ['session:ann', 'admin:eve', 'session:ann'],
  ['session:ann', 'admin:eve session:ann', 'admin:eve session:ann'],
  ['session:ann~light:+', 'admin:eve session:ann~basket:+~light:+', 'admin:eve'],
  ['admin:eve session:ann', '~basket:+', 'session:ann~basket:+'],
])('sessions of other kinds, which only some pages read, drop nothing: %s, %s, %s', async (marks) => {
  const world = createWorld()
  const hrefs = ['/a', '/b', '/c']
  for (const [at, href] of hrefs.entries()) await visitAs(world, href, marks[at] ?? '')
  for (const href of hrefs) expect(world.known.answerOf(href)).toBeDefined()
})

test.for([
  ['session:ann', 'admin:eve', 'session:bob'],
  ['admin:eve session:ann', 'session:ann', 'admin:-'],
  ['session:ann~basket:one', 'session:ann', '~basket:two'],
  ['~light:+.aaaaaaaaaa', 'session:ann', '~light:+'],
])('each session is compared with what was known of it before: %s, %s, %s', async (marks) => {
  const world = createWorld()
  for (const [at, href] of ['/a', '/b', '/c'].entries()) await visitAs(world, href, marks[at] ?? '')
  expect(['/a', '/b', '/c'].map((href) => world.known.answerOf(href) !== undefined)).toEqual([false, false, true])
})

const keeper = vi.hoisted(() => ({ learn: vi.fn<(marks: string, isCall?: boolean) => void>(), marks: '' }))
vi.mock('../../../src/client/core/page/draft-keeper.ts', () => ({
  keepDrafts({ marks }: { readonly marks: string }) {
    keeper.marks = marks
    return keeper
  },
}))

/** A tab whose document was made for these sessions. */
function tabOf(marks: string, sessions = '', isFromCache = false) {
  const document = Object.assign(new EventTarget(), { readyState: 'loading' })
  const channel = Object.assign(new EventTarget(), { postMessage: vi.fn<(text: string) => void>() })
  const kept = new Map([['millrace:sessions', sessions]])
  const localStorage = {
    getItem: (key: string) => kept.get(key),
    setItem: vi.fn<(key: string, value: string) => void>((key, value) => void kept.set(key, value)),
    removeItem: (key: string) => kept.delete(key),
  }
  const window = Object.assign(new EventTarget(), { document, localStorage })
  const parts = { window, channel, storage: undefined, marks, kind: () => '', hasActions: () => false, isFromCache }
  return { ...createDraftStarter(parts as never), window, document, channel, localStorage }
}

test('event streams and other tabs hear of a session only if it has become another, or is new', () => {
  const { learn, document, channel } = tabOf('session:ann')
  const heard = vi.fn<() => void>()
  const drops: unknown[] = []
  channel.addEventListener('message', ({ data }: Event & { data?: unknown }) => Array.isArray(data) && drops.push(data))
  document.addEventListener('millrace:session', heard)
  for (const marks of ['session:ann', 'admin:-', 'session:ann', 'admin:-~basket:-']) learn(marks)
  expect(heard).toHaveBeenCalledTimes(2)
  learn('session:bob')
  channel.dispatchEvent(Object.assign(new Event('message'), { data: 'session:ann\nsession:bob' }))
  expect(heard).toHaveBeenCalledTimes(3)
  channel.dispatchEvent(Object.assign(new Event('message'), { data: '\nadmin:eve' }))
  expect(heard).toHaveBeenCalledTimes(4)
  expect(channel.postMessage.mock.calls.at(-1)?.[0]).toMatch(/\nsession:bob$/)
  channel.dispatchEvent(Object.assign(new Event('message'), { data: '\nbasket:one' }))
  expect(heard).toHaveBeenCalledTimes(5)
  // One that is only new was read by nothing here.
  expect(drops).toEqual([['/*', false]])
})

test('a page asks again if an answer says that a user has left of whom only other tabs had told it', () => {
  const drops = (marks: string, isCall?: boolean): unknown[] => {
    const { learn, channel } = tabOf(marks)
    const all: unknown[] = []
    channel.addEventListener('message', ({ data }: Event & { data?: unknown }) => Array.isArray(data) && all.push(data))
    channel.dispatchEvent(Object.assign(new Event('message'), { data: '\nsession:one.ann' }))
    all.length = 0
    learn('session:-', isCall)
    return all
  }
  expect(drops('')).toEqual([['/*', true]])
  expect(drops('session:-')).toEqual([['/*', true]])
  // A call asks by itself, and a router that knows the session.
  expect(drops('', true)).toEqual([])
  expect(drops('session:one.ann')).toEqual([])
})

test('calls name the sessions that answers to the page have opened, and none that only the browser remembers', () => {
  const { learn, channel, pageSessions } = tabOf('admin:-', `${Date.now()} session:one.ann `)
  channel.dispatchEvent(Object.assign(new Event('message'), { data: '\nbasket:three' }))
  expect(pageSessions().trim()).toBe('admin:-')
  learn('session:two.bob')
  expect(pageSessions().trim()).toBe('admin:- session:two.bob')
})

test('a store that is full does not go on naming a former user', () => {
  const sessions = `${Date.now()} session:one.ann `
  const { learn, localStorage } = tabOf('', sessions)
  localStorage.setItem.mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  learn('session:two.bob')
  expect(localStorage.getItem('millrace:sessions')).toBeUndefined()
})

test('marks of sessions in cookies are behind the others', () => {
  expect(
    writeSessionMarks(
      new Map([
        ['~basket', '+'],
        ['session', '-'],
        ['~a', '-'],
      ]),
    ),
  ).toBe('session:-~a:-~basket:+')
})

test('marks are the same text in whatever order their sessions were read', () => {
  const marks: [string, string][] = [
    ['session', 'AbC-_12345'],
    ['admin', '-'],
  ]
  expect(writeSessionMarks(new Map(marks))).toBe('admin:- session:AbC-_12345')
  expect(writeSessionMarks(new Map(marks.toReversed()))).toBe('admin:- session:AbC-_12345')
})

test('whose calls and typed text are is judged by all that was told, also before there was something to judge', async () => {
  const { learn, channel } = tabOf('')
  keeper.learn.mockClear()
  channel.dispatchEvent(Object.assign(new Event('message'), { data: 'session:ann\nsession:-' }))
  learn('session:bob')
  await vi.waitUntil(() => keeper.learn.mock.calls.length === 2)
  expect([keeper.marks, keeper.learn.mock.calls.map(([marks]) => marks)]).toEqual([
    '',
    ['session:ann \nsession:- ', 'session:bob '],
  ])
})

test('nor is what another kind of session says of its user, unless the document has opened that, too, or none', async () => {
  const data = 'admin:root.r session:ann.a\nadmin:- session:ann.a'
  for (const [marks, expected] of [
    ['session:ann.a', ['session:ann.a \nsession:ann.a ', 0]],
    ['admin:root.r session:ann.a', ['admin:root.r session:ann.a \nadmin:- session:ann.a ', 1]],
    ['', ['admin:root.r session:ann.a \nadmin:- session:ann.a ', 1]],
  ] as const) {
    const { document, channel } = tabOf(marks, `${Date.now() - 1e9} admin:root.r session:ann.a `)
    const former = vi.fn<() => void>()
    document.addEventListener('millrace:former', former)
    keeper.learn.mockClear()
    channel.dispatchEvent(Object.assign(new Event('message'), { data }))
    await vi.waitUntil(() => keeper.learn.mock.calls.length === 1)
    expect([keeper.learn.mock.calls[0]?.[0], former.mock.calls.length]).toEqual(expected)
  }
})

test('an answer that was asked for before a session became another tells nothing, but one to a call that began the next', () => {
  const { learn, channel } = tabOf('session:ann')
  const before = Date.now() - 1_000
  channel.dispatchEvent(Object.assign(new Event('message'), { data: 'session:ann\nsession:-' }))
  channel.dispatchEvent(Object.assign(new Event('message'), { data: 'session:-\nsession:eve' }))
  channel.postMessage.mockClear()
  learn('session:ann', false, before)
  for (const former of ['session:ann', 'session:-']) learn(former, true, before)
  expect(channel.postMessage).not.toHaveBeenCalled()
  learn('session:bob', true, before)
  expect(channel.postMessage.mock.calls).toEqual([['session:eve \nsession:bob ']])
})

/** What a tab asks for again, with whether it shows a former user's page. */
async function dropsOf({ channel }: Pick<ReturnType<typeof tabOf>, 'channel'>): Promise<readonly unknown[]> {
  const drops: unknown[] = []
  channel.addEventListener('message', ({ data }: Event & { data?: unknown }) => drops.push(data))
  await vi.advanceTimersByTimeAsync(1)
  return drops
}

test.for([
  ['session:ann.a', 'session:bob.b', true],
  ['session:ann.a', 'session:-', true],
  ['session:-', 'session:bob.b', false],
] as const)(
  'a document of %s that was asked for before this browser had %s is no news, and asks again',
  async ([late, kept, isFormer]) => {
    const tab = tabOf(late, `${Date.now() - 1} ${kept} `)
    expect(await dropsOf(tab)).toEqual([['/*', isFormer]])
    expect([tab.channel.postMessage.mock.calls, tab.localStorage.setItem.mock.calls]).toEqual([[], []])
  },
)

test.for([
  ['session:ann.a', '1 session:bob.b '],
  ['session:new.a', `${Date.now() - 1} session:ann.a `],
  ['session:ann.a', `${Date.now() - 1} admin:eve.e `],
  // A time that lies ahead is none: the clock was wrong.
  ['session:ann.a', `${Date.now() + 3_600_000} session:bob.b `],
  ['session:ann.a', String(Date.now() - 1)],
] as const)('another document is news: %s, %s', async ([marks, kept]) => {
  const tab = tabOf(marks, kept)
  expect(await dropsOf(tab)).toEqual([])
  expect(tab.channel.postMessage.mock.calls).toEqual([[`\n${marks} `]])
})

test.for([true, false])(
  'a late answer, to a call: %s, is no news to a tab that has opened no session before',
  async (isCall) => {
    const tab = tabOf('')
    const drops = dropsOf(tab)
    tab.localStorage.setItem('millrace:sessions', `${Date.now()} session:bob.b `)
    expect(tab.learn('session:ann.a', isCall, Date.now() - 1_000)).toBe(true)
    expect([await drops, tab.channel.postMessage.mock.calls]).toEqual([[['/*', true]], []])
    expect(tab.learn('session:bob.b', isCall, Date.now())).toBe(false)
  },
)

test.for(['session:bob.b', 'session:new.a', 'admin:eve.e'])(
  'one of the same user, or of another kind of session, is news: %s',
  async (kept) => {
    const tab = tabOf('')
    tab.localStorage.setItem('millrace:sessions', `${Date.now()} ${kept} `)
    const isSame = kept !== 'session:bob.b'
    expect(tab.learn('session:ann.a', true, Date.now() - 1_000)).toBe(!isSame)
    expect(tab.channel.postMessage.mock.calls).toEqual(isSame ? [['\nsession:ann.a']] : [])
  },
)

test('a server that begins another session with each answer is not asked without end', async () => {
  const tab = tabOf('session:a.a')
  const drops = dropsOf(tab)
  const hear = (at: number): unknown =>
    tab.channel.dispatchEvent(Object.assign(new Event('message'), { data: `\nsession:n${at}.n${at}` }))
  for (let at = 0; at < 50; at += 1) hear(at)
  expect((await drops).filter((one) => Array.isArray(one))).toHaveLength(5)
  await vi.advanceTimersByTimeAsync(10_001)
  expect((await drops).filter((one) => Array.isArray(one))).toHaveLength(6)
  // Nor does it forget to ask while others are never quiet.
  for (let at = 50; at < 90; at += 1) {
    hear(at)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect((await drops).filter((one) => Array.isArray(one)).length).toBeGreaterThanOrEqual(11)
})

test('a document from the cache is no news, however old', async () => {
  const tab = tabOf('session:ann.a', '1 session:bob.b ', true)
  expect([await dropsOf(tab), tab.channel.postMessage.mock.calls]).toEqual([[['/*', true]], []])
})

test('a page that the browser has kept as it was hears what has become of its sessions', async () => {
  const tab = tabOf('session:ann.a')
  tab.localStorage.setItem('millrace:sessions', `${Date.now()} session:bob.b `)
  const drops = dropsOf(tab)
  tab.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }))
  tab.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
  expect(await drops).toEqual([['/*', true]])
})

test('which sessions this browser had last, and since when, is kept for documents that are still on their way', () => {
  const { learn, localStorage } = tabOf('session:ann')
  learn('session:ann')
  learn('session:- admin:-')
  expect(
    localStorage.setItem.mock.calls.map(([, value]: readonly unknown[]) => String(value).replace(/^\d{13} /, '')),
  ).toEqual(['session:ann ', 'session:- admin:- '])
})

test.for([
  ['session:one.u1', 'session:two.u1', undefined],
  ['session:one.u1.v1', 'session:two.u2.v1', undefined],
  ['~light:+.u1', '~light:+.u1', undefined],
  ['session:-', 'session:two.u1', false],
  ['session:one.u1', 'session:two.u2', true],
  ['session:one.u1', 'session:-', true],
  ['~basket:one', '~basket:two', true],
  ['session:one.u1~basket:one', 'session:one.u1~basket:-', true],
  ['session:one.u1~basket:one', 'session:-~basket:-', true],
  ['session:one.u1 admin:-', 'session:two.u1 admin:three.w', false],
] as const)('a session with a new id is the same if a user is: %s, %s', ([former, news, told]) => {
  const { channel } = tabOf(former)
  const drops: unknown[] = []
  channel.addEventListener(
    'message',
    ({ data }: Event & { data?: unknown }) => Array.isArray(data) && drops.push(data[1]),
  )
  channel.dispatchEvent(Object.assign(new Event('message'), { data: `${former}\n${news}` }))
  expect(drops[0]).toBe(told)
})

test('a document of the session that this browser had last tells nobody: browsers throw away pages that hear something', async () => {
  const tab = tabOf('session:ann.a', `${Date.now() - 1} session:ann.a `)
  expect([await dropsOf(tab), tab.channel.postMessage.mock.calls]).toEqual([[], []])
})
