import { useContext, useEffect, useEffectEvent, useMemo, useSyncExternalStore } from 'react'
import type { LinkTarget } from '../../shared/link-target.ts'
import { RouterContext } from '../react/contexts.ts'
import type {
  BlockedNavigation,
  BlockerQuestion,
  NavigateEvent,
  NavigateOptions,
  PendingNavigation,
  Router,
} from '../react/router-types.ts'
import { NO_SITE } from '../react/view-location.ts'

const subscribeToNothing = (): (() => void) => () => undefined

/** A value of the router that updates the component; `initial` on the server and while hydrating. */
export function useRouterValue<Value>(read: (router: Router) => Value, initial: Value): Value {
  const router = useContext(RouterContext)
  return useSyncExternalStore(
    router?.subscribe ?? subscribeToNothing,
    () => (router === null ? initial : read(router)),
    () => initial,
  )
}

/** Result of `useNavigate`. Call its functions in events and effects; they throw on the server. */
export interface Navigate extends Pick<Router, 'go' | 'refresh' | 'revalidate' | 'prefetch'> {
  /**
   * Goes to a URL; relative ones are resolved as in a link. Other sites are left to the browser.
   * @throws {TypeError} for text that is not a URL, or a URL that runs script.
   */
  navigate<To extends string>(to: LinkTarget<To> | { readonly href: string }, options?: NavigateOptions): void
}

/**
 * Functions to navigate, to reload data, and to drop cached data. They, and the object, keep their identity: they may be
 * dependencies of an effect, and be called by timers.
 * @example
 * ```tsx
 * import { useNavigate } from 'millrace'
 *
 * export function Next({ page }: { readonly page: number }) {
 *   const { navigate } = useNavigate()
 *   return <button onClick={() => navigate(`?page=${page + 1}`)}>Next page</button>
 * }
 * ```
 */
export function useNavigate(): Navigate {
  const router = useContext(RouterContext)
  return useMemo(() => createNavigate(router), [router])
}

/** The router's own functions are replaced when its code has loaded. */
function createNavigate(router: Router | null): Navigate {
  const loaded = (): Router => {
    if (router === null) throw new Error('The server has no router: call this in an event or an effect')
    return router
  }
  return {
    navigate: (to, options) => loaded().navigate(to, options),
    go: (delta) => loaded().go(delta),
    refresh: () => loaded().refresh(),
    revalidate: (...targets) => loaded().revalidate(...targets),
    prefetch: (href) => loaded().prefetch(href),
  }
}

/** The current navigation; `undefined` without one, and for its first 100 ms. */
export function useNavigation(): PendingNavigation | undefined {
  return useRouterValue((router) => router.pending, undefined)
}

/** Whether the current navigation leads to the same place as a link with this `href`: path, query and fragment. */
export function useLinkStatus(href: string): { readonly pending: boolean } {
  const pending = useRouterValue((router) => isPending(router, href), false)
  return useMemo(() => ({ pending }), [pending])
}

/** A link may be relative, and spelled differently from its normalised URL. */
function isPending({ pending, screen }: Router, href: string): boolean {
  const base = NO_SITE + screen.href
  if (pending === undefined || !URL.canParse(href, base)) return false
  const { origin, pathname, search, hash } = new URL(href, base)
  return origin === NO_SITE && pathname + search + hash === pending.href
}

/** Whether the browser reports a network connection. */
export function useOnline(): boolean {
  return useRouterValue((router) => router.online, true)
}

/** Listens to every navigation: start, and commit, cancel or fail. */
export function useNavigateEvents(listener: (event: NavigateEvent) => void): void {
  const router = useContext(RouterContext)
  const hear = useEffectEvent(listener)
  useEffect(() => router?.onNavigate((event) => hear(event)), [router])
}

/**
 * Asks before the visitor leaves this page: by a link, by the back button, by closing it.
 * @param blocks whether to block the navigation, or a function that decides.
 * @returns the blocked navigation, which can proceed or be dropped; `undefined` without one. When the visitor leaves
 * the site, the browser itself asks.
 * @example
 * ```tsx
 * import { useBlocker } from 'millrace'
 *
 * export function UnsavedHint({ isDirty }: { readonly isDirty: boolean }) {
 *   const blocked = useBlocker(isDirty)
 *   if (blocked === undefined) return null
 *   return <button onClick={() => blocked.proceed()}>Leave without saving</button>
 * }
 * ```
 */
export function useBlocker(blocks: boolean | ((question: BlockerQuestion) => boolean)): BlockedNavigation | undefined {
  const router = useContext(RouterContext)
  const active = blocks !== false
  const asks = useEffectEvent((question: BlockerQuestion) => (typeof blocks === 'function' ? blocks(question) : blocks))
  useEffect(() => (active ? router?.block((question) => asks(question)) : undefined), [router, active])
  return useRouterValue((one) => one.blocked, undefined)
}
