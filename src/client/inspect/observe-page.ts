import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { Router } from '../react/router-types.ts'
import {
  readDocument,
  readTiming,
  type DocumentFacts,
  type DroppedEntry,
  type FailedAnswer,
  type ObservedCall,
  type PageFacts,
} from './page-facts.ts'

/** Collects what the client router does not keep. Bounds: 200 requests, 30 of everything else. */
export interface PageObserver {
  /** A snapshot of the present. */
  facts(): PageFacts
  /** Records entries that leave the route cache, until the returned function is called. */
  watchCache(known: Pick<KnownRoutes, 'cache' | 'stateOf'>, subscribe: (listener: () => void) => () => void): () => void
  /** Records calls of actions. Changes the router that it is given: for development only. */
  watchCalls(router: Pick<Router, 'call'>): void
  /** Records the status of what has failed in a request for a page, or its data; without one, nothing. */
  answered(request: { readonly url: string; readonly status?: number }): void
  /** Records a hydration error after which React rendered again. */
  recovered(message: string): void
  /** Calls back after each record. */
  subscribe(listener: () => void): () => void
  stop(): void
}

/** A page with names for its actions; the development server writes them. */
interface NamedActions {
  readonly millraceActionNames?: Readonly<Record<string, string>>
}

const MAX_REQUESTS = 200 // as many as a browser keeps by itself, about
const MAX_RECORDS = 30 // as the router's journal

/** The requests before this call are those that the browser has kept: 250 at most. */
export function observePage(window: Window & typeof globalThis, now: () => number = () => Date.now()): PageObserver {
  const { document, performance, location } = window
  const timings: PerformanceResourceTiming[] = []
  const calls: ObservedCall[] = []
  const dropped: DroppedEntry[] = []
  const recovered: string[] = []
  const failures: FailedAnswer[] = []
  const state: { content?: DocumentFacts | undefined } = {}
  const listeners = new Set<() => void>()
  const changed = (): void => listeners.forEach((listener) => listener())

  const observer = new window.PerformanceObserver((list) => {
    for (const entry of list.getEntries()) add(timings, entry as PerformanceResourceTiming, MAX_REQUESTS)
    changed()
  })
  observer.observe({ type: 'resource', buffered: true })

  /** A document that has arrived stays as it is. */
  function contentOf(bytes: number): DocumentFacts | undefined {
    const content = state.content ?? readDocument(document, bytes)
    if (document.readyState === 'complete' && bytes > 0) state.content = content
    return content
  }

  return {
    facts() {
      const { timeOrigin } = performance
      const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      const read = (entry: PerformanceResourceTiming) => readTiming(entry, timeOrigin, location.origin)
      return {
        now: now(),
        startedAt: timeOrigin,
        document: load && { ...read(load), kind: 'document', durationMs: load.responseEnd },
        requests: timings.map(read),
        calls,
        dropped,
        recovered,
        failures,
        actionNames: (window as NamedActions).millraceActionNames ?? {},
        content: contentOf(load?.decodedBodySize ?? 0),
      }
    },
    watchCache(known, subscribe) {
      let { cache } = known
      return subscribe(() => {
        if (known.cache === cache) return
        const former = cache
        cache = known.cache
        const at = now()
        const isFull = [...cache.entries].some(([key, entry]) => former.entries.get(key) !== entry)
        for (const [key, entry] of former.entries) {
          if (cache.entries.has(key)) continue
          // Only an answer that arrives makes room.
          const why = known.stateOf(entry, at) === 'expired' ? 'expired' : isFull ? 'evicted' : 'dropped'
          add(dropped, { key, at, why }, MAX_RECORDS)
        }
      })
    },
    watchCalls(router) {
      const { call } = router
      router.call = async (id, args, event = window.event) => {
        const record: ObservedCall = { id, startedAt: now() }
        add(calls, record, MAX_RECORDS)
        changed()
        try {
          return await call(id, args, event)
        } catch (thrown) {
          record.failed = thrown instanceof Error ? thrown.message : 'a thrown value'
          throw thrown
        } finally {
          record.endedAt = now()
          changed()
        }
      }
    },
    answered({ url, status }) {
      if (status === undefined) return
      add(failures, { page: url, status, at: now() }, MAX_RECORDS)
      changed()
    },
    recovered(message) {
      add(recovered, message, MAX_RECORDS)
      changed()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop: () => observer.disconnect(),
  }
}

function add<Item>(list: Item[], item: Item, most: number): void {
  list.push(item)
  if (list.length > most) list.shift()
}
