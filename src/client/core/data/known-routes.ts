import type { RouteDataHead, SegmentMeta, SegmentRecord, SegmentValues } from '../../../shared/protocol/route-data.ts'
import { parsePattern } from '../../../shared/route-pattern.ts'
import type { RouteParams } from '../../react/route-view.ts'
import {
  EMPTY_CACHE,
  ENTRY_LIFETIME_MS,
  MAX_ENTRIES,
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
export type RouteAnswer = Partial<Pick<RouteDataHead, 'route' | 'params' | 'scope' | 'redirect' | 'document' | 'at'>>

/**
 * The browser's knowledge of the site's pages: data by segment, answers by URL, both in one route cache. It tracks
 * which search params each loader reads, and so which URLs share an entry.
 */
export interface KnownRoutes {
  readonly cache: RouteCache
  /** An entry that may be shown. */
  entry(key: string): CacheEntry | undefined
  /** How an entry may be used, by default now; reload a stale one after showing it. */
  readonly stateOf: (entry: CacheEntry, at?: number) => EntryState
  /** The entry of the server's answer for a URL; its value is a `RouteAnswer`. */
  answerOf(href: string): CacheEntry | undefined
  /** Key of a segment's data. */
  keyOf(id: string, href: string, params: RouteParams): string
  /**
   * Records facts about data that has arrived, even if it is not cached: which search params its loader reads, its tags,
   * and the last drop that it contains.
   */
  note(href: string, params: RouteParams, segment: ArrivedSegment, at: number | undefined): void
  /** Facts about the data on screen, even if it is not cached; `undefined` if they are unknown. */
  readonly screen: readonly (DataFacts | undefined)[]
  keepSegment(id: string, href: string, key: string, segment: KeptSegment): void
  keepAnswer(href: string, answer: RouteAnswer, lifetimeMs?: number): void
  /** Records that these entries, and the URL's answer, are on screen. */
  shown(keys: readonly string[], href: string): void
  /** How often something was dropped. */
  readonly drops: number
  /** Drops entries by tag or path; as `matchesTarget`. */
  revalidate(targets: readonly string[], before?: number): void
}

/** What decides whether a drop concerns data; see `matchesTarget`. */
type DataFacts = Pick<CacheEntry, 'tags' | 'path' | 'at'>

/** Facts of an answer about a segment's data. */
type ArrivedSegment = Pick<SegmentRecord, 'segment' | 'uses' | 'tags'>

/** A cached segment's data. */
export interface KeptSegment extends Pick<SegmentMeta, 'lifetime' | 'tags'> {
  readonly values: SegmentValues
  readonly content?: string | undefined
  /** Characters on the wire. */
  readonly size: number
}

/** The path of a URL that begins with one. */
export function pathOf(href: string): string {
  return href.split(/[?#]/, 1)[0] ?? href
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
  /** Of data that has arrived, by key. Bound: as many as there are entries. */
  const facts = new Map<string, DataFacts>()
  let screen: readonly (DataFacts | undefined)[] = []
  let cache = EMPTY_CACHE
  let onScreen: readonly string[] = []
  let drops = 0

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

  function keyOf(id: string, href: string, params: RouteParams): string {
    // Layouts rarely read the query, and many links share them: assume that an unknown one does not.
    const known = uses.get(id) ?? (id.endsWith('#layout') ? [] : true)
    return segmentKey(id, params, new URLSearchParams(href.slice(pathOf(href).length)), known)
  }

  return {
    get cache() {
      return cache
    },
    entry,
    stateOf: (one, at = now()) => entryState(one, at),
    answerOf: (href) => entry(`url ${href}`) ?? entry(`path ${pathOf(href)}`),
    keyOf,
    note(href, params, { segment: id, uses: seen = [], tags = [] }, at) {
      const known = uses.get(id) ?? []
      uses.set(id, known === true || seen === true ? true : [...new Set([...known, ...seen])])
      facts.set(keyOf(id, href, params), { tags, path: segmentPath(id, href), at })
      for (const key of facts.keys()) if (facts.size > MAX_ENTRIES) facts.delete(key)
    },
    get screen() {
      return screen
    },
    keepSegment(id, href, key, { values, lifetime, tags = [], content, size }) {
      keep(key, {
        value: values,
        lifetimeMs: lifetime === undefined ? ENTRY_LIFETIME_MS : lifetime * 1000,
        tags,
        path: segmentPath(id, href),
        at: facts.get(key)?.at,
        size,
        content,
      })
    },
    keepAnswer(href, answer, lifetimeMs = ENTRY_LIFETIME_MS) {
      const path = pathOf(href)
      const key = answer.scope === 'path' ? `path ${path}` : `url ${href}`
      keep(key, { value: answer, lifetimeMs, tags: [], path, at: answer.at, size: key.length })
    },
    shown(keys, href) {
      const url = withoutHash(href)
      onScreen = [...keys, `path ${pathOf(url)}`, `url ${url}`]
      change({ type: 'show', keys: onScreen })
      screen = keys.map((key) => facts.get(key))
    },
    get drops() {
      return drops
    },
    revalidate(targets, before) {
      if (targets.length > 0) drops += 1
      change({ type: 'revalidate', targets, before })
    },
  }
}
