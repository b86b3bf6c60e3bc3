import { withBasePath } from '../shared/base-path.ts'
import type { Screen, RouterListeners, HostedRouter, LoadedRouter } from './react/router-types.ts'
import type { SayTexts } from '../shared/texts.ts'
import { offerReload } from './offer-reload.ts'

type Call = 'refresh' | 'revalidate' | 'prefetch' | 'redirect'

/**
 * The client router as hooks see it from the first render. Its code is not part of the first load: it loads after
 * hydration, and takes this object over. Calls before that are queued. If it does not load, links and forms use the
 * browser's own behaviour, `navigate` and `refresh` load a document, and the next call tries again.
 * @param load loads the code, and starts the router.
 * @param texts of the page.
 */
export function createLazyRouter(
  window: Window,
  first: Screen,
  load: (listeners: RouterListeners) => Promise<LoadedRouter>,
  texts?: ReturnType<SayTexts>,
): HostedRouter {
  const { document, history, location } = window
  const listeners: RouterListeners = { changes: new Set(), navigations: new Set(), blockers: new Set() }
  const { changes, navigations, blockers } = listeners
  let started: Promise<void> | undefined

  function start(): Promise<void> {
    started ??= load(listeners).then(
      (router) => {
        Object.defineProperties(handle, Object.getOwnPropertyDescriptors(router))
        for (const listener of changes) listener()
      },
      (reason: unknown) => {
        started = undefined
        window.addEventListener('submit', leaveToBrowser, true)
        throw reason
      },
    )
    return started
  }

  /**
   * Passes the call to the router once that has loaded.
   * @param otherwise fallback if it does not load.
   */
  function later<Name extends Call>(
    name: Name,
    otherwise: () => void = nothing,
  ): (...args: Parameters<HostedRouter[Name]>) => void {
    return (...args) =>
      void start().then(() => (handle[name] as (...args: readonly unknown[]) => void)(...args), otherwise)
  }

  function beforeUnload(event: BeforeUnloadEvent): void {
    if (!listeners.unasked && [...blockers].some((asks) => asks({ href: undefined }))) event.preventDefault()
  }

  const handle: HostedRouter = {
    screen: first,
    pending: undefined,
    blocked: undefined,
    online: window.navigator.onLine,
    navigate(to, options) {
      const { href, protocol } = new URL(typeof to === 'string' ? withBasePath(to) : to.href, document.baseURI)
      if (!/^https?:$/.test(protocol)) throw new TypeError(`Not a page: ${href}`)
      start().then(
        () => handle.navigate(href, options),
        () => location[options?.replace ? 'replace' : 'assign'](href),
      )
    },
    go: (delta) => history.go(delta),
    refresh: later('refresh', () => location.reload()),
    revalidate: later('revalidate'),
    prefetch: later('prefetch'),
    redirect: later('redirect'),
    caught: (boundary, value) => start().then(() => handle.caught(boundary, value), nothing),
    uploads: new Map(),
    hearUsers: (marks, askedAt) => start().then(() => handle.hearUsers?.(marks, askedAt)),
    read: (href, signal) => start().then(() => handle.read(href, signal)),
    call: (id, args, event = window.event) =>
      start().then(
        () => handle.call(id, args, event),
        () => {
          // Keeps typed input.
          void offerReload(window, texts)
          return new Promise(nothing)
        },
      ),
    block(asks) {
      // Only while needed: browsers may not keep a page with such a listener for the back button.
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
    leaving: nothing,
    committed: () => void start().catch(nothing),
  }
  return handle
}

/** The server has written the form's URL, for browsers without scripts; React's handlers do not see this submit. */
function leaveToBrowser(event: SubmitEvent): void {
  const { submitter, target } = event
  // A field may hide the form's own method.
  const { getAttribute } = Object.getPrototypeOf(target) as Element
  const address = submitter?.getAttribute('formaction') ?? getAttribute.call(target, 'action')
  if (/[?&]_action=/.test(String(address))) event.stopImmediatePropagation()
}

function nothing(): undefined {}
