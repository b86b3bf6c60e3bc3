import type { BlockerQuestion, BoundaryRouter, NavigateEvent, Screen } from './router-types.ts'
import type { InspectedRouter } from './router-insight.ts'

/** Who wants to hear of the router. The handle fills it, the router that comes later tells. */
export interface RouterListeners {
  /** `screen`, `pending`, `blocked` or `online` have changed. */
  readonly changes: Set<() => void>
  readonly navigations: Set<(event: NavigateEvent) => void>
  /** Asked before the page is left. */
  readonly blockers: Set<(question: BlockerQuestion) => boolean>
}

/** The router with what the React root tells it. */
export interface HostedRouter extends InspectedRouter, BoundaryRouter {
  /** React is about to take the screen out of the document. */
  leaving(): void
  /** React has put this screen into the document. */
  committed(screen: Screen): void
}

/** What of `HostedRouter` comes with the router's own code; the handle keeps the rest. */
export type LoadedRouter = Omit<HostedRouter, 'subscribe' | 'onNavigate' | 'block'>

type Call = 'caught' | 'navigate' | 'refresh' | 'revalidate' | 'prefetch' | 'redirect'

/**
 * The client router as hooks have it from the first render. Its code is no part of the first load: it is fetched when the
 * document is alive, and takes this object over. What is asked for before that waits for it. If it does not come, links
 * stay the browser's own, `navigate` loads a document, and the next call tries again.
 * @param load brings the code, and starts the router.
 */
export function createRouterHandle(
  window: Window,
  first: Screen,
  load: (listeners: RouterListeners) => Promise<LoadedRouter>,
): HostedRouter {
  const { document, history, location } = window
  const changes: RouterListeners['changes'] = new Set()
  const navigations: RouterListeners['navigations'] = new Set()
  const blockers: RouterListeners['blockers'] = new Set()
  let started: Promise<void> | undefined

  function start(): Promise<void> {
    started ??= load({ changes, navigations, blockers }).then(
      (router) => {
        Object.defineProperties(handle, Object.getOwnPropertyDescriptors(router))
        for (const listener of changes) listener()
      },
      (reason: unknown) => {
        started = undefined
        throw reason
      },
    )
    return started
  }

  /** Gives the call to the router when that is here; what needs it cannot be done without it. */
  function later<Name extends Call>(name: Name): (...args: Parameters<HostedRouter[Name]>) => void {
    return (...args) =>
      void start().then(
        () => (handle[name] as (...args: readonly unknown[]) => void)(...args),
        () => undefined,
      )
  }

  function beforeUnload(event: BeforeUnloadEvent): void {
    if ([...blockers].some((asks) => asks({ href: undefined }))) event.preventDefault()
  }

  const handle: HostedRouter = {
    screen: first,
    pending: undefined,
    blocked: undefined,
    online: window.navigator.onLine,
    navigate(to, options) {
      const { href, protocol } = new URL(typeof to === 'string' ? to : to.href, document.baseURI)
      if (!/^https?:$/.test(protocol)) throw new TypeError(`Not a page: ${href}`)
      start().then(
        () => handle.navigate(href, options),
        () => location[options?.replace === true ? 'replace' : 'assign'](href),
      )
    },
    go: (delta) => history.go(delta),
    refresh: later('refresh'),
    revalidate: later('revalidate'),
    prefetch: later('prefetch'),
    redirect: later('redirect'),
    caught: later('caught'),
    uploads: new Map(),
    read: (href, signal) => start().then(() => handle.read(href, signal)),
    call: (id, args, event = window.event) => start().then(() => handle.call(id, args, event)),
    block(asks) {
      // Only while needed: a page with such a listener may not be kept for the back button.
      if (blockers.size === 0) window.addEventListener('beforeunload', beforeUnload)
      blockers.add(asks)
      return () => {
        blockers.delete(asks)
        if (blockers.size === 0) window.removeEventListener('beforeunload', beforeUnload)
      }
    },
    onNavigate(listener) {
      navigations.add(listener)
      return () => navigations.delete(listener)
    },
    subscribe(listener) {
      changes.add(listener)
      return () => changes.delete(listener)
    },
    leaving: () => undefined,
    committed: () => void start().catch(() => undefined),
  }
  return handle
}
