import type { Match, Matchable, Matcher } from './match-routes.ts'
import type { SegmentEntry } from './route-chain.ts'
import type { RouteDefinitions } from './route-definition.ts'
import { createMatcher } from './match-routes.ts'
import { chainOf } from './route-chain.ts'
import { compareSegments } from './route-order.ts'
import { parsePattern } from './route-pattern.ts'

export type { SegmentEntry }

/** An entry that answers URLs, with its chain. */
export interface Route extends SegmentEntry, Matchable {
  /** The pattern without groups. */
  readonly pattern: string
  /** `page` renders a document, `handler` returns its own `Response`. */
  readonly kind: 'page' | 'handler'
  /**
   * From the root to this route: every entry whose key is a prefix of this one's, by segment, groups included; the
   * route's own entry is the last. An entry is the same object in all chains.
   */
  readonly chain: readonly SegmentEntry[]
}

/** Result of `RouteTable.match`. */
export type RouteMatch = Match<Route>

/** A table that is ready for matching; the same on the server and in the browser. */
export interface RouteTable {
  /** In the order in which they are tried. */
  readonly routes: readonly Route[]
  /** The entry `/`: its layout and fallbacks also apply to URLs that no route answers. */
  readonly root: SegmentEntry | undefined
  /** Finds the route for a path; see `Matcher`. */
  readonly match: Matcher<Route>
}

/**
 * Prepares a table for matching without checking it, because this also runs in the browser: the build and the server
 * call `validateRouteTable` first.
 */
export function createRouteTable(definitions: RouteDefinitions): RouteTable {
  const entries = new Map<string, SegmentEntry>()
  for (const [key, definition] of Object.entries(definitions)) entries.set(key, { key, definition })

  const routes: Route[] = []
  for (const { key, definition } of entries.values()) {
    if (!definition.page && !definition.handler) continue
    const { url, segments } = parsePattern(key)
    const chain = chainOf(definitions, key).flatMap((entry) => entries.get(entry.key) ?? [])
    routes.push({
      pattern: url,
      key,
      kind: definition.page ? 'page' : 'handler',
      dynamic: segments.some((segment) => segment.kind !== 'static'),
      segments,
      definition,
      chain,
      lists: Object.assign(Object.create(null), ...chain.map((entry) => entry.definition.params)),
    })
  }
  routes.sort((left, right) => compareSegments(left.segments, right.segments))
  return { routes, root: entries.get('/'), match: createMatcher(routes) }
}
