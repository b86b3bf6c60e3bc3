import { useContext, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import { RouterContext } from '../react/contexts.ts'
import type {
  BlockedNavigation,
  BlockerQuestion,
  NavigateEvent,
  PendingNavigation,
  Router,
} from '../react/router-types.ts'
import type { LoaderData, ServerModuleShape } from '../module-types.ts'
import { pageId } from '../react/route-view.ts'

const subscribeToNothing = (): (() => void) => () => undefined

/** A value of the router, kept up to date; `initial` on the server and while hydrating. */
function useRouterValue<Value>(read: (router: Router) => Value, initial: Value): Value {
  const router = useContext(RouterContext)
  return useSyncExternalStore(
    router?.subscribe ?? subscribeToNothing,
    () => (router === null ? initial : read(router)),
    () => initial,
  )
}

/** What `useNavigate` gives. Its functions are for events and effects; they throw on the server. */
export type Navigate = Pick<Router, 'navigate' | 'go' | 'refresh' | 'revalidate' | 'prefetch'>

/** Moves about, asks for data anew, drops what is known of it. */
export function useNavigate(): Navigate {
  const router = useContext(RouterContext)
  return router ?? NOWHERE
}

function nowhere(): never {
  throw new Error('There is no router on the server: call this in an event or an effect')
}

const NOWHERE: Navigate = { navigate: nowhere, go: nowhere, refresh: nowhere, revalidate: nowhere, prefetch: nowhere }

/** The navigation under way; `undefined` without one, and for the first 100 ms of it. */
export function useNavigation(): PendingNavigation | undefined {
  return useRouterValue((router) => router.pending, undefined)
}

/** Whether the navigation under way leads where a link with this `href` does: path, query and fragment. */
export function useLinkStatus(href: string): { readonly pending: boolean } {
  return { pending: useRouterValue((router) => isPending(router, href), false) }
}

/** Of no site, for reading URLs where there is no document. */
const NO_SITE = 'http://site.invalid'

/** A link may be relative, and written with other letters than its URL has. */
function isPending({ pending, screen }: Router, href: string): boolean {
  const base = NO_SITE + screen.href
  if (pending === undefined || !URL.canParse(href, base)) return false
  const { origin, pathname, search, hash } = new URL(href, base)
  return origin === NO_SITE && pathname + search + hash === pending.href
}

/** Whether the browser says that it has a network. */
export function useOnline(): boolean {
  return useRouterValue((router) => router.online, true)
}

/** Hears of every navigation: start, and commit, cancel or fail. */
export function useNavigateEvents(listener: (event: NavigateEvent) => void): void {
  const router = useContext(RouterContext)
  const hear = useEffectEvent(listener)
  useEffect(() => router?.onNavigate((event) => hear(event)), [router])
}

/**
 * Asks before this page is left: by a link, by the back button, by closing it.
 * @param blocks whether to hold the navigation back, or a function that says so.
 * @returns the navigation that is held back, to be let go or given up; `undefined` without one. Leaving the site is asked
 * about by the browser itself.
 */
export function useBlocker(blocks: boolean | ((question: BlockerQuestion) => boolean)): BlockedNavigation | undefined {
  const router = useContext(RouterContext)
  const active = blocks !== false
  const asks = useEffectEvent((question: BlockerQuestion) => (typeof blocks === 'function' ? blocks(question) : blocks))
  useEffect(() => (active ? router?.block((question) => asks(question)) : undefined), [router, active])
  return useRouterValue((one) => one.blocked, undefined)
}

/** Reading a page's data without going there. */
export interface Fetcher<Data> {
  readonly state: 'idle' | 'loading'
  /** Of the last page that was read. */
  readonly data: Data | undefined
  /** Why the last reading failed. */
  readonly error: unknown
  /** Reads a page of this site; a reading that is under way is given up. */
  load(href: string): void
}

interface FetcherResult<Data> {
  /** The reading that it came of. */
  readonly of?: { readonly href: string }
  readonly data?: Data
  readonly error?: unknown
}

/**
 * Reads the data of other pages, from the route cache where it is there.
 * @typeParam Module `typeof import('./loader.server.ts')` of the page that is read.
 */
export function useFetcher<Module extends ServerModuleShape>(): Fetcher<LoaderData<Module>> {
  const router = useContext(RouterContext)
  const [reading, setReading] = useState<{ readonly href: string } | undefined>()
  const [result, setResult] = useState<FetcherResult<LoaderData<Module>>>({})
  useEffect(() => {
    if (reading === undefined || router === null) return undefined
    const controller = new AbortController()
    const end = (settled: Omit<typeof result, 'of'>): void => {
      if (!controller.signal.aborted) setResult({ ...settled, of: reading })
    }
    router
      .read(reading.href, controller.signal)
      .then(({ chain, data, outcome }) => {
        const id = pageId(chain.at(-1)?.key ?? '')
        end(outcome === undefined ? { data: data[id] as LoaderData<Module> } : { error: outcome })
      })
      .catch((error: unknown) => end({ error }))
    // Only the next reading ends this one: deferred values may still be on their way.
    return () => controller.abort()
  }, [reading, router])
  return {
    state: reading === result.of ? 'idle' : 'loading',
    data: result.data,
    error: result.error,
    load: (href) => setReading({ href }),
  }
}
