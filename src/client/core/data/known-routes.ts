import type { RouteDataHead, SegmentMeta, SegmentValues } from '../../../shared/protocol/route-data.ts'
import { parsePattern } from '../../../shared/route-pattern.ts'
import type { RouteParams } from '../../react/route-view.ts'
import {
  EMPTY_CACHE,
  ENTRY_LIFETIME_MS,
  entryState,
  reduceRouteCache,
  type CacheEntry,
  type CacheEvent,
  type EntryState,
  type RouteCache,
} from './route-cache.ts'
import { withoutHash } from './local-href.ts'
import { segmentKey } from './segment-key.ts'

/** The server's answer for a URL: its route, or its redirect. */
export type Verdict = Partial<Pick<RouteDataHead, 'route' | 'params' | 'scope' | 'redirect' | 'document'>>

/**
 * The browser's knowledge of the site's pages: data by segment, verdicts by URL, both in one route cache. It tracks
 * which search params each loader reads, and so which URLs share an entry.
 */
export interface KnownRoutes {
  readonly cache: RouteCache
  /** An entry that may be shown. */
  entry(key: string): CacheEntry | undefined
  /** How an entry may be used, by default now; reload a stale one after showing it. */
  readonly stateOf: (entry: CacheEntry, at?: number) => EntryState
  /** The entry of a URL's verdict; its value is a `Verdict`. */
  verdict(href: string): CacheEntry | undefined
  /** Key of a segment's data. */
  keyOf(id: string, href: string, params: RouteParams): string
  /** Records which search params a loader reads. */
  noteUses(id: string, uses: SegmentMeta['uses']): void
  keepSegment(id: string, href: string, key: string, segment: KeptSegment): void
  keepVerdict(href: string, verdict: Verdict, lifetimeMs?: number): void
  /** Records that these entries, and the URL's verdict, are on screen. */
  shown(keys: readonly string[], href: string): void
  /** Drops entries by tag or path. */
  revalidate(targets: readonly string[]): void
}

/** A cached segment's data. */
export interface KeptSegment extends Pick<SegmentMeta, 'lifetime' | 'tags'> {
  readonly values: SegmentValues
  readonly hash?: number | undefined
  /** Characters on the wire. */
  readonly size: number
}

/** The path of a URL that begins with one. */
export function pathOf(href: string): string {
  return href.split('?', 1)[0] ?? href
}

/** The part of a URL's path to which a segment belongs: `/docs` for the layout of `/docs` around `/docs/loaders`. */
export function segmentPath(id: string, href: string): string {
  const [key = '', kind] = id.split('#')
  const parts = pathOf(href).split('/')
  return kind === 'layout' ? parts.slice(0, parsePattern(key).segments.length + 1).join('/') || '/' : pathOf(href)
}

/**
 * @param now milliseconds since the epoch.
 * @param onChange called after each change.
 */
export function createKnownRoutes(now: () => number, onChange: () => void): KnownRoutes {
  const uses = new Map<string, true | readonly string[]>()
  let cache = EMPTY_CACHE
  let onScreen: readonly string[] = []

  function change(event: CacheEvent): void {
    const next = reduceRouteCache(cache, event)
    if (next === cache) return
    cache = next
    onChange()
  }

  function entry(key: string): CacheEntry | undefined {
    const found = cache.entries.get(key)
    return found === undefined || entryState(found, now()) === 'expired' ? undefined : found
  }

  function keep(key: string, kept: Omit<CacheEntry, 'receivedAt' | 'shown'>): void {
    const at = now()
    change({ type: 'receive', key, entry: { ...kept, receivedAt: at, shown: onScreen.includes(key) }, now: at })
  }

  return {
    get cache() {
      return cache
    },
    entry,
    stateOf: (one, at = now()) => entryState(one, at),
    verdict: (href) => entry(`url ${href}`) ?? entry(`path ${pathOf(href)}`),
    keyOf(id, href, params) {
      // Layouts rarely read the query, and many links share them: assume that an unknown one does not.
      const known = uses.get(id) ?? (id.endsWith('#layout') ? [] : true)
      return segmentKey(id, params, new URLSearchParams(href.slice(pathOf(href).length)), known)
    },
    noteUses(id, seen = []) {
      const known = uses.get(id) ?? []
      uses.set(id, known === true || seen === true ? true : [...new Set([...known, ...seen])])
    },
    keepSegment(id, href, key, { values, lifetime, tags = [], hash, size }) {
      keep(key, {
        value: values,
        lifetimeMs: lifetime === undefined ? ENTRY_LIFETIME_MS : lifetime * 1000,
        tags,
        path: segmentPath(id, href),
        size,
        hash,
      })
    },
    keepVerdict(href, verdict, lifetimeMs = ENTRY_LIFETIME_MS) {
      const path = pathOf(href)
      const key = verdict.scope === 'path' ? `path ${path}` : `url ${href}`
      keep(key, { value: verdict, lifetimeMs, tags: [], path, size: key.length })
    },
    shown(keys, href) {
      const url = withoutHash(href)
      onScreen = [...keys, `path ${pathOf(url)}`, `url ${url}`]
      change({ type: 'show', keys: onScreen })
    },
    revalidate(targets) {
      change({ type: 'revalidate', targets })
    },
  }
}
