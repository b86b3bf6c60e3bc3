import {
  advancePrefetching,
  nextWake,
  NO_PREFETCHES,
  reducePrefetching,
  type PrefetchEvent,
  type Prefetching,
  type PrefetchPriority,
} from './prefetch-scheduler.ts'
import type { RouteCode } from './route-code.ts'
import type { RouteStore } from './route-store.ts'
import { RouteLoadError } from './router-errors.ts'

/** Does what the scheduler decides: fetches code and data of routes that are likely to be visited. */
export interface Prefetcher {
  readonly state: Prefetching
  /** @param href path and query. */
  add(href: string, priority: PrefetchPriority): void
  /** Nobody wants it ahead any more; what is under way for it is aborted, unless a navigation has joined. */
  cancel(href: string): void
  /** The page is left: what somebody pointed at there is of no interest any more. Links in view end by `cancel`. */
  cancelIntents(): void
}

/** What it is made of. */
export interface PrefetcherParts {
  readonly store: RouteStore
  readonly code: RouteCode
  readonly now: () => number
  /** Whether prefetching makes sense at all: not once the server has another build. */
  readonly enabled: () => boolean
  readonly onChange: () => void
  /** Makes a redirect's target a path and query of this site; `undefined` for any other. */
  readonly localHref: (to: string, from: string) => string | undefined
}

const MAX_REDIRECTS = 20 // as in a navigation

export function createPrefetcher({ store, code, now, enabled, onChange, localHref }: PrefetcherParts): Prefetcher {
  const owner = { state: NO_PREFETCHES }
  /** What is under way, by target. */
  const running = new Map<string, { readonly controller: AbortController; fetching: boolean }>()
  let wake: ReturnType<typeof setTimeout> | undefined

  function dispatch(event: PrefetchEvent): void {
    owner.state = reducePrefetching(owner.state, event)
    advance()
  }

  function advance(): void {
    owner.state = advancePrefetching(owner.state, now(), segmentsOf)
    for (const [target, { controller }] of running) {
      if (owner.state.jobs.has(target)) continue
      running.delete(target)
      controller.abort()
    }
    for (const target of owner.state.active) {
      const phase = owner.state.jobs.get(target)?.phase
      let job = running.get(target)
      if (job === undefined) {
        job = { controller: new AbortController(), fetching: false }
        running.set(target, job)
        preloadCode(target)
      }
      if (phase === 'fetching' && !job.fetching) {
        job.fetching = true
        void fetchData(target, job.controller)
      }
    }
    clearTimeout(wake)
    const at = nextWake(owner.state)
    if (at !== undefined) wake = setTimeout(advance, at - now())
    onChange()
  }

  /** What its request counts for. A request for a verdict alone is one too. */
  function segmentsOf(href: string): number {
    const { missing, asksVerdict } = store.plan(href)
    return missing.length > 0 ? missing.length : Number(asksVerdict)
  }

  function preloadCode(href: string): void {
    const { route } = store.plan(href)
    if (route) void code.preload({ chain: route.chain })
  }

  async function fetchData(target: string, { signal }: AbortController): Promise<void> {
    let failed = false
    try {
      let href = target
      for (let hops = 0; hops < MAX_REDIRECTS; hops += 1) {
        const loaded = await store.load(href, { signal, prefetch: true, whole: true })
        if (loaded.kind === 'redirect') {
          const next = loaded.redirect.external ? undefined : localHref(loaded.redirect.to, href)
          if (next === undefined) break
          preloadCode(next)
          href = next
          continue
        }
        // Refusals are not kept: asking for them ahead again and again would be a storm of its own.
        failed = loaded.kind === 'page' && loaded.outcome !== undefined
        if (loaded.kind === 'page') {
          pauseFor(loaded.status >= 500 ? loaded.retryAfterMs : undefined)
          loaded.release()
        }
        break
      }
    } catch (thrown) {
      if (signal.aborted) return
      failed = true
      if (thrown instanceof RouteLoadError) pauseFor(thrown.retryAfterMs)
    }
    if (signal.aborted) return
    running.delete(target)
    dispatch({ type: 'settle', target, now: now(), failed })
  }

  function pauseFor(milliseconds: number | undefined): void {
    if (milliseconds !== undefined) dispatch({ type: 'pause', until: now() + milliseconds })
  }

  return {
    get state() {
      return owner.state
    },
    add(href, priority) {
      if (!enabled()) return
      const { route, redirect, document, asksVerdict, missing, joins } = store.plan(href)
      // Nothing is known of a URL that no page of the table has: a prefetch could be anything, a download as well.
      if (document || (!route && redirect === undefined)) return
      if (!asksVerdict && missing.length === 0 && joins.length === 0 && redirect === undefined) {
        preloadCode(href)
        return
      }
      dispatch({ type: 'add', target: href, priority, now: now() })
    },
    cancel: (href) => dispatch({ type: 'cancel', target: href }),
    cancelIntents() {
      const intents = [...owner.state.jobs.values()].filter(({ priority }) => priority === 'intent')
      for (const { target } of intents) dispatch({ type: 'cancel', target })
    },
  }
}
