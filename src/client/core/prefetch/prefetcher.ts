import { localHref, withoutHash } from '../data/local-href.ts'
import {
  advancePrefetching,
  nextWake,
  NO_PREFETCHES,
  REQUEST_COST,
  reducePrefetching,
  type PrefetchEvent,
  type Prefetching,
  type PrefetchPriority,
} from './prefetch-scheduler.ts'
import type { RouteCode } from '../page/route-code.ts'
import type { LoadedRoute, RouteStore } from '../data/route-store.ts'

/** Runs the scheduler's jobs: fetches code and data of routes that the visitor is likely to open. */
export interface Prefetcher {
  readonly state: Prefetching
  /** @param href path and query. */
  add(href: string, priority: PrefetchPriority): void
  /** Nobody wants these prefetches any more; their requests are aborted, unless a navigation has joined. */
  cancel(hrefs: readonly string[]): void
  /** Starts nothing for these milliseconds, because the server has answered some request so. */
  pause(milliseconds: number): void
  /** The visitor leaves the page: targets pointed at there no longer matter. Links in view end by `cancel`. */
  cancelIntents(): void
}

/** What it is made of. */
interface PrefetcherParts {
  readonly store: RouteStore
  readonly code: RouteCode
  /** `https://host` of the page. */
  readonly origin: string
  readonly now: () => number
  /** Whether the server has a newer build: nothing is prefetched then. */
  readonly outdated: () => boolean
  readonly onChange: () => void
}

const MAX_REDIRECTS = 20 // as in a navigation

export function createPrefetcher({ store, code, origin, now, outdated, onChange }: PrefetcherParts): Prefetcher {
  let state = NO_PREFETCHES
  /** Running jobs by target. */
  const running = new Map<string, { readonly controller: AbortController; fetching: boolean }>()
  let wake: ReturnType<typeof setTimeout> | undefined

  function dispatch(event: PrefetchEvent): void {
    state = reducePrefetching(state, event)
    advance()
  }

  /** Nothing new starts before the last of them is forgotten. */
  function cancel(targets: readonly string[]): void {
    for (const target of targets) state = reducePrefetching(state, { type: 'cancel', target })
    if (targets.length > 0) advance()
  }

  function advance(): void {
    state = advancePrefetching(state, now(), segmentsOf)
    for (const [target, { controller }] of running) {
      if (!state.jobs.has(target) && running.delete(target)) controller.abort()
    }
    for (const target of state.active) {
      let work = running.get(target)
      if (work === undefined) {
        work = { controller: new AbortController(), fetching: false }
        running.set(target, work)
        preloadCode(target)
      }
      if (state.jobs.get(target)?.phase === 'fetching' && !work.fetching) {
        work.fetching = true
        void fetchData(target, work.controller.signal)
      }
    }
    clearTimeout(wake)
    const at = nextWake(state)
    if (at !== undefined) wake = setTimeout(advance, at - now())
    onChange()
  }

  /** The number of segments in its request. A request that only asks what the URL is counts as one. */
  function segmentsOf(href: string): number {
    const { missing, asksServer } = store.plan(href)
    return missing.length > 0 ? missing.length : Number(asksServer)
  }

  function preloadCode(href: string): void {
    const { route } = store.plan(href).page
    if (route) void code.preload({ chain: route.chain })
  }

  async function fetchData(target: string, signal: AbortSignal): Promise<void> {
    let isOfUse = true
    let cost = 0
    try {
      let href = target
      for (let hops = 0; href !== '' && hops < MAX_REDIRECTS; hops += 1) {
        const loaded: LoadedRoute = await store.load(href, { signal, prefetch: true, whole: true })
        // The first request was counted when it started.
        cost += (hops && REQUEST_COST) + (loaded.kind === 'page' ? loaded.size : 0)
        href = ''
        if (loaded.kind === 'redirect' && !loaded.redirect.external) {
          href = withoutHash(localHref(loaded.redirect.to, origin) ?? '')
          if (href !== '') preloadCode(href)
        }
        // Redirects and refusals are not cached: prefetching them repeatedly would be a flood of requests.
        isOfUse &&= loaded.kind === 'page' && loaded.outcome === undefined
      }
    } catch {
      isOfUse = false
    }
    if (signal.aborted) return
    running.delete(target)
    dispatch({ type: 'settle', target, now: now(), failed: !isOfUse, cost })
  }

  return {
    get state() {
      return state
    },
    add(href, priority) {
      if (outdated()) return
      const { page, document, asksServer, missing, joins } = store.plan(href)
      // A URL outside the table could be anything, even a download.
      if (document || !page.route) return
      if (asksServer || missing.length > 0 || joins.size > 0) {
        dispatch({ type: 'add', target: href, priority, now: now() })
      } else preloadCode(href)
    },
    cancel,
    pause(milliseconds) {
      dispatch({ type: 'pause', until: now() + milliseconds })
    },
    cancelIntents() {
      cancel([...state.jobs.values()].flatMap(({ priority, target }) => (priority === 'intent' ? target : [])))
    },
  }
}
