import { afterEach, describe, expect, test, vi } from 'vitest'
import { type LoadedRouter, type RouterListeners } from '../../../src/client/react/router-types.ts'
import { createLazyRouter } from '../../../src/client/lazy-router.ts'
import type { Screen } from '../../../src/client/react/router-types.ts'
import { flush } from './route-data-server.ts'

const first: Screen = { href: '/', view: { chain: [], params: {}, search: {}, data: {} }, visit: 0 }

/** A page whose router has not come yet, and what becomes of it. */
function createPage() {
  const left: string[] = []
  const bars: object[] = []
  const window = Object.assign(new EventTarget(), {
    document: {
      baseURI: 'https://millrace.test/docs/',
      createElement: () => ({ style: {}, append: () => undefined, addEventListener: () => undefined }),
      body: { append: (bar: object) => void bars.push(bar) },
    },
    navigator: { onLine: true },
    history: { go: (delta: number) => void left.push(`go ${delta}`) },
    location: {
      assign: (href: string) => void left.push(`assign ${href}`),
      replace: (href: string) => void left.push(`replace ${href}`),
      reload: () => void left.push('reload'),
    },
  })
  const coming: { resolve(router: LoadedRouter): void; reject(reason: unknown): void }[] = []
  const seen: { listeners?: RouterListeners } = {}
  const handle = createLazyRouter(window as unknown as Window, first, (listeners) => {
    seen.listeners = listeners
    const { promise, resolve, reject } = Promise.withResolvers<LoadedRouter>()
    coming.push({ resolve, reject })
    return promise
  })
  const calls: string[] = []
  const told =
    (name: string) =>
    (...args: readonly unknown[]): void =>
      void calls.push([name, ...args].join(' '))
  const router = {
    get screen() {
      return { ...first, href: '/next' }
    },
    pending: undefined,
    blocked: undefined,
    online: false,
    navigate: told('navigate'),
    go: told('go'),
    refresh: told('refresh'),
    revalidate: told('revalidate'),
    prefetch: told('prefetch'),
    redirect: told('redirect'),
    read: (href: string) => Promise.resolve({ ...first.view, params: { href } }),
    call: () => Promise.resolve('called'),
    uploads: new Map(),
    caught: () => Promise.resolve('shown'),
    leaving: told('leaving'),
    committed: told('committed'),
  } as LoadedRouter

  return {
    handle,
    left,
    bars,
    /** Whether React hears of a form that is sent. */
    reactHears(action: string | null, formaction?: string): boolean {
      const heard = vi.fn<() => void>()
      window.addEventListener('submit', heard, { once: true })
      const target = Object.create({ getAttribute: () => action }) as object
      const submitter = formaction === undefined ? null : { getAttribute: () => formaction }
      const event = Object.assign(new Event('submit'), { submitter })
      Object.defineProperty(event, 'target', { value: target })
      window.dispatchEvent(event)
      window.removeEventListener('submit', heard)
      return heard.mock.calls.length > 0
    },
    calls,
    listeners: () => seen.listeners,
    /** How often the code was asked for. */
    asked: () => coming.length,
    /** The router's code comes, and all that has waited for it goes on. */
    async come(): Promise<void> {
      coming.at(-1)?.resolve(router)
      await flush()
    },
    async fail(): Promise<void> {
      coming.at(-1)?.reject(new TypeError('Failed to fetch dynamically imported module'))
      await flush()
    },
    /** Whether the browser would ask before it closes the page. */
    asksToLeave: () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })),
  }
}

describe('before the router is there', () => {
  test('it is asked for once, as soon as the document is alive', () => {
    const page = createPage()
    expect(page.asked()).toBe(0)
    page.handle.committed(first)
    page.handle.committed(first)
    page.handle.refresh()
    expect(page.asked()).toBe(1)
  })

  test('hooks see the page that the document brought', () => {
    const { handle } = createPage()
    expect(handle.screen).toBe(first)
    expect([handle.pending, handle.blocked, handle.online]).toEqual([undefined, undefined, true])
  })

  test('what is asked of it is done when it comes, in that order', async () => {
    const page = createPage()
    page.handle.navigate('loaders', { replace: true })
    page.handle.revalidate('tag', '/path')
    page.handle.prefetch('/a')
    page.handle.redirect('/b', false)
    page.handle.refresh()
    const read = page.handle.read('/c', new AbortController().signal)
    expect(page.calls).toEqual([])
    await page.come()
    expect(page.calls).toEqual([
      'navigate https://millrace.test/docs/loaders [object Object]',
      'revalidate tag /path',
      'prefetch /a',
      'redirect /b false',
      'refresh',
    ])
    expect(await read).toMatchObject({ params: { href: '/c' } })
  })

  test('a step in the history needs no router', () => {
    const page = createPage()
    page.handle.go(-1)
    expect(page.left).toEqual(['go -1'])
  })

  test.for(['javascript:alert(1)', 'data:text/html,x', 'mailto:a@b.test'])('never goes to %s', async (href) => {
    const page = createPage()
    expect(() => page.handle.navigate(href)).toThrow(TypeError)
    expect(page.asked()).toBe(0)
  })

  test('a page that must not be lost is asked about when it is closed, and only as long as it says so', () => {
    const page = createPage()
    expect(page.asksToLeave()).toBe(false)
    const unblock = page.handle.block(({ href }) => href === undefined)
    expect(page.asksToLeave()).toBe(true)
    unblock()
    expect(page.asksToLeave()).toBe(false)
  })

  test('whoever comes after a former user is not asked', () => {
    const page = createPage()
    page.handle.committed(first)
    page.handle.block(() => true)
    Object.assign(page.listeners() ?? {}, { unasked: true })
    expect(page.asksToLeave()).toBe(false)
    Object.assign(page.listeners() ?? {}, { unasked: false })
    expect(page.asksToLeave()).toBe(true)
  })
})

describe('when it has come', () => {
  test('the same object is the router, and whoever listened is told at once and from then on', async () => {
    const page = createPage()
    const { subscribe } = page.handle
    const hear = vi.fn<() => void>()
    const unsubscribe = subscribe(hear)
    page.handle.committed(first)
    await page.come()
    expect(hear).toHaveBeenCalledTimes(1)
    expect(page.handle.screen.href).toBe('/next')
    expect(page.handle.online).toBe(false)
    expect(page.handle.subscribe).toBe(subscribe)
    for (const listener of page.listeners()?.changes ?? []) listener()
    expect(hear).toHaveBeenCalledTimes(2)
    unsubscribe()
    expect(page.listeners()?.changes.size).toBe(0)
  })

  test('it knows who wants to hear of navigations, and who wants to be asked', async () => {
    const page = createPage()
    page.handle.onNavigate(() => undefined)
    page.handle.block(() => true)
    page.handle.committed(first)
    await page.come()
    expect(page.listeners()?.navigations.size).toBe(1)
    expect(page.listeners()?.blockers.size).toBe(1)
  })

  test('React tells it of screens', async () => {
    const page = createPage()
    page.handle.committed(first)
    await page.come()
    page.handle.leaving()
    page.handle.committed(first)
    expect(page.calls).toEqual(['leaving', 'committed [object Object]'])
  })
})

describe('when it does not come', () => {
  const unhandled = vi.fn<(reason: unknown) => void>()

  afterEach(() => {
    process.off('unhandledRejection', unhandled)
  })

  test('navigate and refresh load a document, and nothing else happens', async () => {
    process.on('unhandledRejection', unhandled)
    const page = createPage()
    page.handle.committed(first)
    page.handle.navigate('/a')
    page.handle.navigate({ href: '/b' }, { replace: true })
    page.handle.refresh()
    page.handle.redirect('/c', false)
    await page.fail()
    expect(page.left).toEqual(['assign https://millrace.test/a', 'replace https://millrace.test/b', 'reload'])
    expect(page.calls).toEqual([])
    expect(unhandled).not.toHaveBeenCalled()
  })

  test('forms that the server wrote for browsers without scripts are sent by the browser, others by React', async () => {
    const page = createPage()
    page.handle.committed(first)
    const own = '/docs?_action=abc.1'
    expect(page.reactHears(own)).toBe(true)
    await page.fail()
    expect(page.reactHears(own)).toBe(false)
    expect(page.reactHears('/docs?q=1&_action=abc.1')).toBe(false)
    expect(page.reactHears('/docs', own)).toBe(false)
    expect(page.reactHears(own, 'javascript:throw 1')).toBe(true)
    expect(page.reactHears('/docs?q=_action')).toBe(true)
    expect(page.reactHears(null)).toBe(true)
  })

  test('a call leaves the page as it is, and a bar offers to load it again', async () => {
    const page = createPage()
    const settled = vi.fn<() => void>()
    page.handle.call('id', [], undefined).then(settled, settled)
    await page.fail()
    expect(page.bars).toHaveLength(1)
    expect(settled).not.toHaveBeenCalled()
  })

  test('what was caught has no fallback', async () => {
    const page = createPage()
    const shown = page.handle.caught({ chain: [], at: 0, visit: 0, children: null }, new Error('broken'))
    await page.fail()
    expect(await shown).toBeUndefined()
  })

  test('reading a page fails with the reason', async () => {
    const page = createPage()
    const read = page.handle.read('/a', new AbortController().signal)
    await Promise.all([expect(read).rejects.toThrow('dynamically imported module'), page.fail()])
  })

  test('the next call asks for it again', async () => {
    const page = createPage()
    page.handle.committed(first)
    await page.fail()
    page.handle.navigate('/a')
    expect(page.asked()).toBe(2)
    await page.come()
    expect(page.calls).toEqual(['navigate https://millrace.test/a '])
  })
})
