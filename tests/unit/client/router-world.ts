import { afterEach, beforeEach, vi } from 'vitest'
// Loaded here, so that no test waits for it in the middle of an answer.
import '../../../src/shared/protocol/decode-values.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { createActionCalls } from '../../../src/client/actions/call-action.ts'
import type { HistoryStack, Traversal } from '../../../src/client/core/navigation/history-stack.ts'
import { createJournal } from '../../../src/client/core/data/journal.ts'
import { createKnownRoutes } from '../../../src/client/core/data/known-routes.ts'
import { withoutHash } from '../../../src/client/core/data/local-href.ts'
import { createPageLoader } from '../../../src/client/core/navigation/page-loader.ts'
import { createPrefetcher } from '../../../src/client/core/prefetch/prefetcher.ts'
import { createRetry } from '../../../src/client/core/data/retry.ts'
import type { RouteCode } from '../../../src/client/core/page/route-code.ts'
import { startRouteRequest } from '../../../src/client/core/data/route-request.ts'
import { createRouteStore } from '../../../src/client/core/data/route-store.ts'
import { RouteLoadError } from '../../../src/client/react/router-errors.ts'
import { type RouterScreen } from '../../../src/client/core/navigation/router-parts.ts'
import { createRouter, type RouterCore } from '../../../src/client/core/navigation/router.ts'
import type { NavigateEvent, RouterListeners } from '../../../src/client/react/router-types.ts'
import { BUILD, ORIGIN, type SentRequest, head, segment, flush, createServer } from './route-data-server.ts'

/** A call that no form and no button has made. */
const NO_SOURCE = { form: undefined, by: undefined }

const module = (): Promise<unknown> => Promise.resolve({})
const page = { page: module, loader: module }

/** Pages `/a`, `/b`, `/c`, `/u/[name]` with data of their own, and two under `/lab`, which share the data of its layout. */
export const pages = createRouteTable({
  '/': { layout: module, page: module, error: module, notFound: module },
  '/a': page,
  '/b': page,
  '/c': page,
  '/u/[name]': page,
  '/lab': { layout: module, layoutLoader: module, error: module },
  '/lab/one': page,
  '/lab/two': page,
})

/** Lets the clock of each test of a file stand still. */
export function holdTheClock(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
  afterEach(() => void vi.useRealTimers())
}

/** Moves the clock, and lets happen what was due. */
export async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds)
  await flush()
}

/** A tab with the whole core of the client router, on the page `/`. Fake timers must be on. */
export function createWorld({ deaf = false, table = pages, asks = undefined as readonly string[] | undefined } = {}) {
  const { requests, fetch } = createServer(deaf)
  const now = (): number => Date.now()
  const lifecycle = { outdated: false }
  const location = { origin: ORIGIN, href: `${ORIGIN}/`, pathname: '/', search: '', hash: '' }
  /** How the document was loaded, and when. */
  const loaded = { type: 'navigate', at: 0 }
  const tab = {
    performance: { now: () => Date.now() - loaded.at, getEntriesByType: () => [loaded], getEntries: () => [loaded] },
    navigator: { onLine: true, cookieEnabled: true },
    document: Object.defineProperties(new EventTarget(), {
      baseURI: { get: () => location.href },
      body: { value: { inert: false } },
    }),
    location,
  }
  const window = Object.assign(new EventTarget(), tab) as unknown as Window

  const entries = ['/']
  const position = { index: 0, onTraverse: undefined as ((traversal: Traversal) => void) | undefined }
  const current = () => ({ key: `k${position.index}`, index: position.index })
  const moveTo = (index: number): void => {
    position.index = index
    const { href, pathname, search, hash } = new URL(entries[index] ?? '/', ORIGIN)
    Object.assign(location, { href, pathname, search, hash })
  }
  const history: HistoryStack = {
    get current() {
      return current()
    },
    shown: '',
    restoresScroll: true,
    settle: () => undefined,
    push(href) {
      entries.splice(position.index + 1, Infinity, href)
      moveTo(position.index + 1)
      return current()
    },
    replace(href) {
      entries[position.index] = href
      moveTo(position.index)
      return current()
    },
    go(delta) {
      const index = position.index + delta
      if (entries[index] === undefined) return
      moveTo(index)
      position.onTraverse?.({ href: entries[index], entry: current(), delta })
    },
    revert({ delta }) {
      moveTo(position.index - delta)
      return Promise.resolve()
    },
    listen(onTraverse) {
      position.onTraverse = onTraverse
    },
  }

  const code: RouteCode = { load: () => Promise.resolve(), show: () => undefined, preload: () => Promise.resolve() }
  const journal = createJournal()
  const known = createKnownRoutes(now, () => undefined)
  const outdated = (): void => void (lifecycle.outdated = true)
  const busy = (milliseconds: number): void => prefetcher.pause(milliseconds)
  const world = { buildId: BUILD, fetch, now, outdated, busy, journal, asks }
  const store = createRouteStore(table, known, world, () => undefined)
  const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, milliseconds)
      signal.addEventListener('abort', () => resolve())
    })
  const retry = createRetry(() => 0.5, wait)
  const loader = createPageLoader({
    table,
    store,
    code,
    origin: ORIGIN,
    publicOrigin: undefined,
    online: () => window.navigator.onLine,
    retry,
    world,
  })
  const prefetcher = createPrefetcher({
    store,
    code,
    origin: ORIGIN,
    now,
    outdated: () => lifecycle.outdated,
    onChange: () => undefined,
  })
  const rendered: RouterScreen[] = []
  const isAnswer = new WeakMap<RouterScreen, boolean | undefined>()
  const left: string[] = []
  const events: string[] = []
  const root = table.routes.find(({ key }) => key === '/')
  known.keepAnswer('/', { route: '/', params: {}, scope: 'path' })
  const listeners: RouterListeners = { changes: new Set(), navigations: new Set(), blockers: new Set() }
  const router: RouterCore = createRouter({
    listeners,
    first: {
      href: '/',
      view: { chain: root?.chain ?? [], params: {}, search: {}, data: {} },
      visit: 0,
      lifetime: new AbortController(),
      page: { keys: [], stale: false },
    },
    known,
    store,
    loader,
    history,
    journal,
    window,
    now,
    outdated: () => lifecycle.outdated,
    prefetcher,
    broadcast: () => undefined,
    tell: () => listeners.changes.forEach((listener) => listener()),
    effects: {
      leaving: () => undefined,
      moved: () => undefined,
      arrived: ({ arrival }) => arrival && prefetcher.cancelIntents(),
    },
    render: (screen, of) => {
      rendered.push(screen)
      isAnswer.set(screen, of)
    },
    leave: (href, kind) => leave(href, kind),
  })
  history.listen(router.traverse, router.moved)
  listeners.navigations.add(({ type, to }: NavigateEvent) => events.push(`${type} ${to}`))

  const leave = (href: string, kind: string): void => void left.push(`${kind} ${href}`)
  const callAction = createActionCalls({
    world,
    known,
    startRouteRequest,
    idsOf: store.idsOf,
    window: window as never,
    router,
    online: () => true,
    outdated: () => lifecycle.outdated,
    renew: () => undefined,
    unsent: () => Promise.reject(new Error('not loaded')),
    retry,
    pageOf: withoutHash,
    sending: () => undefined,
    unanswered: (href) => new RouteLoadError('route data', href),
    revalidate: store.revalidate,
    follow: (to, request) => (request ? store.bring(request, () => router.navigate(to)) : router.navigate(to)),
    leave,
    keepDrafts: () => undefined,
    unhidden: (form) => form,
    progress: () => undefined,
  })

  /** React puts what it was last given into the document. */
  async function commit(): Promise<void> {
    const last = rendered.at(-1)
    if (last !== undefined) router.committed(last)
    await flush()
  }

  function sent(index: number): SentRequest {
    const found = requests[index]
    if (found === undefined) throw new Error(`Only ${requests.length} requests were sent`)
    return found
  }

  return {
    window,
    router,
    listeners,
    prefetcher,
    known,
    store,
    code,
    history,
    requests,
    /** Screens that React was given. */
    rendered,
    /** Whether React was to wait with the last one for the result of an action. */
    waits: () => isAnswer.get(rendered.at(-1) ?? router.screen) === true,
    /** Document loads: kind and URL. */
    left,
    loaded,
    /** What `onNavigate` has told: type and target. */
    events,
    commit,
    /** The fallback that is on the screen. */
    get outcome() {
      return router.screen.view.outcome
    },
    /** URLs in the tab's history. */
    get entries() {
      return [...entries]
    },
    /** The address bar. */
    get address() {
      return location.pathname + location.search
    },
    /** The browser notices that the network goes, or comes back. */
    setOnline(online: boolean): void {
      Object.assign(window.navigator, { onLine: online })
      router.setOnline(online)
    },
    async click(href: string): Promise<void> {
      router.navigate(href)
      await flush()
    },
    /** A link asks for a page ahead. */
    async prefetch(href: string, urgency: Parameters<typeof prefetcher.add>[1]): Promise<void> {
      prefetcher.add(href, urgency)
      await flush()
    },
    /** The `n`-th request gets these records and its end, and React shows what it was given. */
    async answer(index: number, ...records: readonly object[]): Promise<void> {
      await sent(index).done(...records)
      await commit()
    },
    /** A script of the page calls the action `do`: its answer is a request's, and the promise what the page is given. */
    call(): Promise<unknown> {
      return callAction('do', [], NO_SOURCE)
    },
    async back(): Promise<void> {
      history.go(-1)
      await flush()
    },
    /** A whole navigation to a page that is a child of the root; its data is its own name unless `data` says more. */
    async visit(href: string, data: unknown = href): Promise<void> {
      const before = requests.length
      router.navigate(href)
      await flush()
      await requests[before]?.done(head(href), segment(`${href}#page`, data))
      await commit()
    },
    /** The `n`-th request, counted from 0. */
    request: sent,
  }
}
